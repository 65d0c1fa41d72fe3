//! `kibitzer label`: positions labelled by a UCI engine.
use std::{num::NonZeroUsize, path::PathBuf, thread, time::Duration};

use anyhow::Result;
use serde_json::{Value, json};

use crate::{
    cli::Interrupted,
    engine::{Engine, PATIENCE, Setup, UciOption},
    error::UserError,
    files,
    label::{self, Depths, Given, Ledger, Outcome, Recorded, SelfPlay, Source, Work},
    records::RecordFile,
    shard::Shard,
    train::stop_on_interrupt,
};

/// Label positions with a UCI engine: every legal move at one depth, the best ones deeper.
///
/// The positions are those of files, or of games that the engine plays with itself from named
/// openings, one a game; of files with openings, each has its turn. The same command goes on where it was stopped or killed: nothing is
/// labelled twice, and at most what the engines were at is lost. An engine that dies, hangs or
/// answers nonsense is started again; a position on which it fails twice is given up, with a note
/// in OUTPUT.run.
#[derive(Debug, clap::Args)]
pub struct Label {
    /// Positions in FEN, EPD, PGN, a labelled library or records; each counts once.
    #[arg(required_unless_present = "openings", conflicts_with = "openings")]
    positions_of: Vec<PathBuf>,
    /// Play games from these openings instead: a table with the columns name and moves.
    #[arg(long, value_name = "TSV", requires = "positions")]
    openings: Option<PathBuf>,
    /// The library to write, JSON lines; made or gone on with.
    #[arg(short, long, value_name = "LIBRARY")]
    output: PathBuf,
    /// The engine's command.
    #[arg(long, value_name = "COMMAND")]
    engine: String,
    /// A UCI option for the engine; may be repeated.
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<UciOption>,
    /// Engines side by side [default: as many as there are processors].
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroUsize>,
    /// How many positions; of files at most so many, balanced over their openings.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    positions: Option<u64>,
    /// Depth for every legal move, in plies.
    #[arg(long, value_name = "PLIES", default_value_t = 12,
        value_parser = clap::value_parser!(u32).range(1..=100))]
    depth: u32,
    /// Depth for the best moves.
    #[arg(long, value_name = "PLIES", default_value_t = 18,
        value_parser = clap::value_parser!(u32).range(1..=100))]
    top_depth: u32,
    /// How many best moves.
    #[arg(long, value_name = "N", default_value = "3")]
    top: NonZeroUsize,
    /// Seconds for a position at most, half of them for all moves; the depths reached are
    /// recorded.
    #[arg(long, value_name = "SECONDS")]
    cap: Option<f64>,
    /// Depth at which games are played.
    #[arg(long, value_name = "PLIES", default_value_t = 6,
        value_parser = clap::value_parser!(u32).range(1..=100))]
    play_depth: u32,
    /// Decides what is drawn in games.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Seconds of silence after which an engine counts as hanging.
    #[arg(long, value_name = "SECONDS", default_value_t = PATIENCE.as_secs_f64())]
    patience: f64,
    /// Only part I of N: the finished files of all parts, one after the other, are the whole.
    #[arg(long, value_name = "I/N", default_value_t)]
    shard: Shard,
}

impl Label {
    /// Labels until all is done, or until Ctrl-C.
    ///
    /// # Errors
    /// [`UserError`] for a wrong file, flag or engine; [`Interrupted`] after Ctrl-C.
    pub fn run(self) -> Result<()> {
        if self.output.extension().is_some_and(|extension| extension == "zst") {
            let mend = "name a .jsonl, and compress it when it is finished";
            let what = "a compressed file cannot grow line by line";
            return Err(UserError::new(what, self.output.display(), mend).into());
        }
        let cap = self.cap.map(|seconds| self.seconds("--cap", seconds)).transpose()?;
        let patience = self.seconds("--patience", self.patience)?;
        files::require_writable(&self.output)?;
        let source = self.source()?;
        let stop = stop_on_interrupt()?;
        let setup = Setup {
            command: self.engine.clone(),
            options: self.options.clone(),
            patience,
            // Engines in WASM take a while.
            start_patience: patience.max(PATIENCE),
            stop,
        };
        let first = Engine::start(&setup)?;
        let depths = Depths { all: self.depth, top: self.top_depth, best: self.top.get(), cap };
        let settings = self.settings(&source, &first);
        let mut ledger = Ledger::open(&self.output, &settings)?;
        let workers = self.workers.or_else(|| thread::available_parallelism().ok());
        let workers = workers.map_or(1, NonZeroUsize::get);
        let work = Work { setup, source, depths, shard: self.shard, workers };
        tracing::info!(
            "{} of {} positions are labelled, {} given up; {} with {workers} workers",
            ledger.written(),
            work.numbers().count(),
            ledger.skipped(),
            first.name,
        );
        let outcome = work.run(&mut ledger, first);
        // What is there is kept, whatever has happened.
        let complete = outcome.as_ref().is_ok_and(|outcome| outcome.complete);
        ledger.finish(complete)?;
        let outcome = outcome?;
        tell(&outcome);
        if complete { Ok(()) } else { Err(Interrupted.into()) }
    }

    fn seconds(&self, flag: &str, seconds: f64) -> Result<Duration, UserError> {
        let sane = seconds > 0.0 && seconds <= 1e6;
        let refuse = || UserError::new("a time out of range", flag, "give seconds, as in 2.5");
        sane.then(|| Duration::from_secs_f64(seconds)).ok_or_else(refuse)
    }

    fn source(&self) -> Result<Source> {
        let Some(path) = &self.openings else {
            return match &self.positions_of[..] {
                [path] if RecordFile::recognises(path) => {
                    Ok(Source::Recorded(Recorded::open(path, self.positions)?))
                }
                paths => Ok(Source::Given(Given::read(paths, self.positions)?)),
            };
        };
        Ok(Source::SelfPlay(SelfPlay {
            openings: label::read_openings(path)?,
            // Required beside openings.
            positions: self.positions.unwrap_or(0),
            seed: self.seed,
            depth: self.play_depth,
        }))
    }

    /// All that decides the labels.
    fn settings(&self, source: &Source, engine: &Engine) -> Value {
        let options: Vec<String> =
            self.options.iter().map(|option| format!("{}={}", option.name, option.value)).collect();
        let mut settings = json!({
            "engine": engine.name,
            "options": options,
            "depth": self.depth,
            "top_depth": self.top_depth,
            "top": self.top,
            "cap": self.cap,
            "positions": source.count(),
            "shard": self.shard.to_string(),
        });
        if let (Some(all), Value::Object(own)) = (settings.as_object_mut(), source.settings()) {
            all.extend(own);
        }
        settings
    }
}

fn tell(outcome: &Outcome) {
    let Outcome { labelled, skipped, restarts, .. } = outcome;
    if *labelled + *skipped == 0 {
        return;
    }
    tracing::info!(
        "{labelled} positions labelled, {skipped} given up, {restarts} engines started again; \
         engines searched for {:.1} s, {:.1} % of the workers' time went elsewhere",
        outcome.searched.as_secs_f64(),
        100.0 * outcome.overhead(),
    );
}
