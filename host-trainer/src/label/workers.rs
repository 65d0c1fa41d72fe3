//! Engines side by side, each with a thread of its own.
use std::{
    sync::{
        Mutex,
        atomic::Ordering,
        mpsc::{Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::Result;

use super::{Depths, Ledger, Root, Source};
use crate::{
    engine::{Engine, Fault, Setup},
    error::UserError,
    library::Entry,
    progress,
    shard::Shard,
};

/// How often a position is tried, each time with a fresh engine after the first.
const TRIES: u32 = 2;
/// How often an engine is started before it is given up.
const STARTS: u32 = 3;
/// Positions in a row that a worker may fail on: the engine is then no good.
const FAILURES: usize = 10;

/// What is to be labelled, and by what.
#[derive(Debug)]
pub struct Work {
    /// The engine.
    pub setup: Setup,
    /// The positions.
    pub source: Source,
    /// How deep.
    pub depths: Depths,
    /// Which part of the positions.
    pub shard: Shard,
    /// Engines side by side, at least 1.
    pub workers: usize,
}

/// How the work went.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outcome {
    /// Whether all positions are settled.
    pub complete: bool,
    /// Positions labelled this time.
    pub labelled: u64,
    /// Positions given up this time.
    pub skipped: u64,
    /// Engines that had to be started again.
    pub restarts: u64,
    /// Time of all workers together.
    pub worked: Duration,
    /// Time in which their engines searched.
    pub searched: Duration,
}

impl Outcome {
    /// Share of the workers' time in which their engines did not search.
    pub fn overhead(&self) -> f64 {
        1.0 - self.searched.as_secs_f64() / self.worked.as_secs_f64().max(1e-9)
    }
}

/// What a worker tells.
enum Report {
    /// A label.
    Labelled(u64, Box<Entry>),
    /// A position is given up, and why.
    Skipped(u64, String),
    /// An engine was started again after this.
    Restarted(u64, Fault),
    /// The worker is done: its time, and that of its engines.
    Done(Duration, Duration),
    /// It cannot go on.
    Failed(UserError),
}

impl Work {
    /// The numbers of the positions that are to be labelled, done or not.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.shard.items(self.source.count()).filter(|&number| self.source.holds(number))
    }

    /// Labels what the ledger lacks, with `first` among the engines, until all is done or the
    /// setup's flag says stop.
    ///
    /// # Errors
    /// [`UserError`] if an engine is no good any more, or the ledger cannot be written.
    pub fn run(&self, ledger: &mut Ledger, first: Engine) -> Result<Outcome> {
        let wanted: Vec<u64> =
            self.numbers().filter(|&number| !ledger.is_settled(number)).collect();
        let bar = progress::bar(wanted.len() as u64, "positions");
        let left = Mutex::new(wanted.iter().copied());
        let (sender, reports) = channel();
        let mut outcome = Outcome::default();
        let mut failed = None;
        thread::scope(|scope| {
            let mut first = Some(first);
            for _ in 0..self.workers.min(wanted.len()) {
                let (engine, sender, left) = (first.take(), sender.clone(), &left);
                scope.spawn(move || {
                    let next = || left.lock().ok()?.next();
                    Worker { work: self, engine, sender: &sender, searched: Duration::ZERO }
                        .run(next);
                });
            }
            drop(sender);
            // Until every worker is gone; after a failure the rest is only waited for.
            for report in reports {
                if failed.is_none()
                    && let Err(error) = take(report, ledger, &mut outcome)
                {
                    failed = Some(error);
                    self.setup.stop.store(true, Ordering::Relaxed);
                }
                bar.set_position(outcome.labelled + outcome.skipped);
            }
        });
        bar.finish_and_clear();
        match failed {
            Some(error) => Err(error),
            None => {
                let settled = outcome.labelled + outcome.skipped;
                Ok(Outcome { complete: settled == wanted.len() as u64, ..outcome })
            }
        }
    }
}

fn take(report: Report, ledger: &mut Ledger, outcome: &mut Outcome) -> Result<()> {
    match report {
        Report::Labelled(number, entry) => {
            ledger.write(number, &entry)?;
            outcome.labelled += 1;
        }
        Report::Skipped(number, why) => {
            tracing::warn!("position {number} is given up: {why}");
            ledger.skip(number, &why)?;
            outcome.skipped += 1;
        }
        Report::Restarted(number, fault) => {
            tracing::warn!("at position {number} {fault}; it is started again");
            outcome.restarts += 1;
        }
        Report::Done(worked, searched) => {
            outcome.worked += worked;
            outcome.searched += searched;
        }
        Report::Failed(error) => return Err(error.into()),
    }
    Ok(())
}

struct Worker<'a> {
    work: &'a Work,
    engine: Option<Engine>,
    sender: &'a Sender<Report>,
    searched: Duration,
}

impl Worker<'_> {
    /// Labels the numbers that `next` gives.
    fn run(mut self, next: impl Fn() -> Option<u64>) {
        let started = Instant::now();
        self.settle_all(next);
        self.stop_engine();
        self.tell(Report::Done(started.elapsed(), self.searched));
    }

    /// Settles the numbers that `next` gives, as long as the engine is good. That positions are
    /// given up is told once a later one is labelled, or all are through: they may fail because
    /// the engine is broken, and are then left to whoever goes on with a sound one.
    fn settle_all(&mut self, next: impl Fn() -> Option<u64>) {
        let mut failed: Vec<Report> = Vec::new();
        while let Some(number) = next() {
            match self.settle(number) {
                Ok(Some(report @ Report::Skipped(..))) => failed.push(report),
                Ok(Some(report)) => {
                    failed.drain(..).for_each(|report| self.tell(report));
                    self.tell(report);
                }
                Ok(None) => return,
                Err(error) => return self.tell(Report::Failed(error)),
            }
            if failed.len() == FAILURES {
                let what = format!("{FAILURES} positions in a row have failed");
                let place = format!("engine {}", self.work.setup.command);
                let mend = "see the warnings above, and use another engine or other options";
                return self.tell(Report::Failed(UserError::new(what, place, mend)));
            }
        }
        failed.into_iter().for_each(|report| self.tell(report));
    }

    /// What becomes of position `number`; `None` if the work is to stop.
    fn settle(&mut self, number: u64) -> Result<Option<Report>, UserError> {
        let mut last = None;
        for _ in 0..TRIES {
            let Some(mut engine) = self.engine()? else { return Ok(None) };
            match self.label(number, &mut engine) {
                Ok(report) => {
                    self.engine = Some(engine);
                    return Ok(Some(report));
                }
                Err(Fault::Stopped) => {
                    self.searched += engine.searched;
                    return Ok(None);
                }
                Err(fault) => {
                    self.searched += engine.searched;
                    self.tell(Report::Restarted(number, fault.clone()));
                    last = Some(fault);
                }
            }
        }
        Ok(last.map(|fault| Report::Skipped(number, fault.to_string())))
    }

    fn label(&self, number: u64, engine: &mut Engine) -> Result<Report, Fault> {
        let root: Option<Root> = self.work.source.root(number, engine)?;
        let Some(root) = root else {
            return Ok(Report::Skipped(number, "there is no position with a legal move".into()));
        };
        let entry = self.work.depths.label(number, root, engine)?;
        Ok(Report::Labelled(number, Box::new(entry)))
    }

    /// The engine, started if there is none; `None` if the work is to stop.
    fn engine(&mut self) -> Result<Option<Engine>, UserError> {
        if let Some(engine) = self.engine.take() {
            return Ok(Some(engine));
        }
        let mut pause = Duration::from_millis(100);
        for start in 1.. {
            if self.work.setup.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            match Engine::start(&self.work.setup) {
                Ok(engine) => return Ok(Some(engine)),
                Err(error) if start == STARTS => return Err(error),
                // The machine may be short of something for a moment.
                Err(_) => thread::sleep(pause),
            }
            pause *= 10;
        }
        Ok(None)
    }

    fn stop_engine(&mut self) {
        if let Some(engine) = self.engine.take() {
            self.searched += engine.searched;
        }
    }

    fn tell(&self, report: Report) {
        // Who does not listen any more has failed, and says so.
        let _ = self.sender.send(report);
    }
}
