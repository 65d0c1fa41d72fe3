//! Batches prepared ahead by threads of their own, in an order that only the seed decides.
use std::{
    ops::Range,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use kibitzer_core::inputs::Perspective;
use kibitzer_gpu::Batch;
use rayon::prelude::*;

use super::Settings;
use crate::{
    bands::{BANDS, Band},
    batches,
    error::UserError,
    examples::{Examples, Held},
    order::{Balanced, Order, Schedule, Spans},
};

/// Batches that each thread prepares ahead.
const AHEAD: usize = 3;

/// What the loader reads and in which order.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Positions a batch.
    pub batch: usize,
    /// The order of the training examples.
    pub order: Schedule,
    /// From whose side the network sees the board.
    pub perspective: Perspective,
}

/// The batches of a range of steps, one after the other.
///
/// Thread t of n prepares every n-th batch from the t-th on, so that their order never depends
/// on which thread is faster.
#[derive(Debug)]
pub struct Loader {
    lanes: Vec<Receiver<Result<Batch, UserError>>>,
    next: usize,
    waited: Duration,
}

impl Loader {
    /// Starts `threads` threads on the batches of `steps`.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn start(
        examples: &Arc<dyn Examples>,
        plan: &Plan,
        steps: &Range<u64>,
        threads: usize,
    ) -> Result<Loader> {
        let lane = |thread: usize| {
            let (sender, receiver) = sync_channel(AHEAD);
            let (examples, plan) = (Arc::clone(examples), plan.clone());
            let steps = (steps.start + thread as u64..steps.end).step_by(threads);
            thread::Builder::new()
                .name(format!("loader {thread}"))
                .spawn(move || prepare(&*examples, plan, steps, &sender))
                .context("starting a thread")?;
            Ok(receiver)
        };
        let lanes = (0..threads).map(lane).collect::<Result<_>>()?;
        Ok(Loader { lanes, next: 0, waited: Duration::ZERO })
    }

    /// The next batch, or `None` after the last one.
    ///
    /// # Errors
    /// If an example is damaged.
    pub fn next_batch(&mut self) -> Result<Option<Batch>, UserError> {
        let start = Instant::now();
        let batch = self.lanes[self.next].recv().ok().transpose();
        self.waited += start.elapsed();
        self.next = (self.next + 1) % self.lanes.len();
        batch
    }

    /// Time spent in [`Loader::next_batch`] since this was last asked.
    pub fn take_waited(&mut self) -> Duration {
        std::mem::take(&mut self.waited)
    }
}

/// Prepares the batches of `steps` until they are done or nobody takes them any more.
fn prepare(
    examples: &dyn Examples,
    mut plan: Plan,
    steps: impl Iterator<Item = u64>,
    sender: &SyncSender<Result<Batch, UserError>>,
) {
    for step in steps {
        if sender.send(plan.batch_of(examples, step)).is_err() {
            return;
        }
    }
}

impl Plan {
    /// The plan of a run with these settings, and the examples that it holds out.
    ///
    /// # Errors
    /// [`UserError`] if no example is left to train on.
    pub fn new(
        examples: &dyn Examples,
        settings: &Settings,
        perspective: Perspective,
    ) -> Result<(Plan, Spans), UserError> {
        let held = Held::new(examples, settings.held_out);
        if held.training.is_empty() {
            let mend = "give more games or openings, or hold out fewer";
            return Err(UserError::new("no position is left to train on", examples.place(), mend));
        }
        let order = if settings.balance > 0.0 {
            let kinds = by_band(examples, &held.training)?;
            Schedule::Balanced(Balanced::new(kinds, settings.balance, settings.seed))
        } else {
            Schedule::Plain(Order::new(held.training, settings.seed))
        };
        Ok((Plan { batch: settings.batch, order, perspective }, held.out))
    }

    /// The bands of the training examples, with how many there are and the share of the places
    /// that they have; empty where all examples come equally often.
    ///
    /// # Errors
    /// [`UserError`] if an example is damaged.
    pub fn bands(
        &self,
        examples: &dyn Examples,
        settings: &Settings,
    ) -> Result<Vec<(String, u32, f64)>, UserError> {
        let Schedule::Balanced(balanced) = &self.order else { return Ok(vec![]) };
        let held = Held::new(examples, settings.held_out);
        let kinds = by_band(examples, &held.training)?.into_iter().enumerate();
        let there = kinds.filter(|(_, kind)| !kind.is_empty());
        let named = there.map(|(number, kind)| (Band::name(number), kind.len()));
        Ok(named.zip(balanced.shares()).map(|((name, len), share)| (name, len, share)).collect())
    }

    /// The batch of step `step` (from 0).
    ///
    /// # Errors
    /// If an example is damaged.
    pub fn batch_of(&mut self, examples: &dyn Examples, step: u64) -> Result<Batch, UserError> {
        let mut batch = batches::with_capacity(self.batch);
        let first = step * self.batch as u64;
        for place in first..first + self.batch as u64 {
            examples.push(&mut batch, self.order.at(place), self.perspective)?;
        }
        Ok(batch)
    }
}

/// The numbers of each band, in the bands' order.
fn by_band(examples: &dyn Examples, training: &Spans) -> Result<Vec<Spans>, UserError> {
    let band = |place| Ok(examples.band(training.at(place))?.number());
    let bands: Vec<usize> =
        (0..training.len()).into_par_iter().map(band).collect::<Result<_, UserError>>()?;
    let mut kinds = vec![Spans::default(); BANDS];
    for (place, band) in (0..).zip(bands) {
        kinds[band].extend([training.at(place)]);
    }
    Ok(kinds)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use kibitzer_core::shakmaty::{Chess, Position as _};

    use super::*;
    use crate::records::{Record, Records};

    fn records() -> Vec<Record> {
        let position = Chess::default();
        let moves = position.legal_moves();
        moves.iter().map(|&mv| Record::new(&position, mv, 0)).collect()
    }

    fn examples(records: Vec<Record>) -> Arc<dyn Examples> {
        Arc::new(Records::in_memory(Path::new("games"), records))
    }

    fn plan() -> Plan {
        let order = Schedule::Plain(Order::new((0..20).collect(), 1));
        Plan { batch: 3, order, perspective: Perspective::Mover }
    }

    fn load(steps: Range<u64>, threads: usize) -> Vec<Batch> {
        let mut loader = Loader::start(&examples(records()), &plan(), &steps, threads).unwrap();
        std::iter::from_fn(|| loader.next_batch().unwrap()).collect()
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let one = load(0..15, 1);
        assert_eq!(one.len(), 15);
        assert_eq!(load(0..15, 3), one);
        assert_eq!(load(7..15, 2), one[7..]);
    }

    #[test]
    fn a_damaged_record_is_reported() {
        let mut damaged = records();
        damaged[3] = bytemuck::Zeroable::zeroed();
        let mut loader = Loader::start(&examples(damaged), &plan(), &(0..7), 1).unwrap();
        let outcome: Result<Vec<Option<Batch>>, UserError> =
            (0..7).map(|_| loader.next_batch()).collect();
        let error = outcome.unwrap_err().to_string();
        assert!(error.starts_with("a record holds no legal position, games: "), "{error}");
    }
}
