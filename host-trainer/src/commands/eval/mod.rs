//! `kibitzer eval`: how well a network predicts games, or an engine's values.
mod suite;
mod text;

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Result;
use kibitzer_core::net::Config;
use kibitzer_gpu::Batch;
use serde::Serialize;

use crate::{
    batches,
    device::Device,
    error::UserError,
    evaluation::{self, Baselines, CHUNK, Fitted, Report, baselines},
    examples::{Examples, Held},
    kinds::{self, Kind},
    labels::{self, Choice, Distillation, TEMPERATURE, Target},
    model::{self, hash_text},
    network::Network,
    order::evenly_spaced,
    pgn, progress,
    quantize::{Parity, parity},
    records::{DEFAULT_SHARE, Records},
};

/// Positions whose material is changed, up to five ways each.
const MATERIAL: usize = 3000;

/// Measure a network: move prediction, value and its calibration, material order.
///
/// On games, the targets are the moves played and the results; on a labelled library, those of
/// train distill. The baselines are equal probabilities, and how often each move is played: in
/// the games or openings that --held-out leaves for training, or else in the other half.
#[derive(Debug, clap::Args)]
pub struct Eval {
    /// A .kbz, a model.safetensors, a checkpoint or a run's folder; for suites also `viveka`.
    #[arg(required_unless_present = "engine")]
    model: Option<PathBuf>,
    #[command(flatten)]
    choice: model::Choice,
    /// Records made by kibitzer pack, games in PGN, or a labelled library.
    #[arg(required_unless_present = "suite")]
    positions: Option<PathBuf>,
    /// Count instead how many moves are found in these EPD files: bm, am, points in c0 or c8.
    #[arg(long, value_name = "EPD", num_args = 1.., conflicts_with_all = ["positions", "against",
        "held_out", "limit"])]
    suite: Vec<PathBuf>,
    /// For suites: have a UCI engine choose, given by its command.
    #[arg(long, value_name = "COMMAND", requires = "suite", conflicts_with = "model")]
    engine: Option<String>,
    /// The engine's search depth in plies.
    #[arg(long, value_name = "PLIES", default_value_t = 8,
        value_parser = clap::value_parser!(u32).range(1..))]
    depth: u32,
    /// Only the games or openings that training holds out (of all: this share).
    #[arg(long, value_name = "SHARE", num_args = 0..=1, require_equals = true)]
    held_out: Option<Option<f64>>,
    /// At most so many positions, evenly spaced.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Of a labelled library: temperature of the targets, in winning chances.
    #[arg(long, default_value_t = TEMPERATURE)]
    temperature: f64,
    /// Of a labelled library: the moves that share the probability, all or so many of the best.
    #[arg(long, value_name = "all|8", default_value_t)]
    moves: Choice,
    /// Also compare the answers with those of this .kbz (parity).
    #[arg(long, value_name = "KBZ")]
    against: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Where to compute.
    #[arg(long, value_enum, default_value_t)]
    device: Device,
}

/// What is printed.
#[derive(Debug, Serialize)]
struct Output {
    #[serde(flatten)]
    report: Report,
    /// What the targets are.
    targets: String,
    baseline: Baselines,
    #[serde(skip_serializing_if = "Option::is_none")]
    parity: Option<Parity>,
}

impl Eval {
    /// Evaluates and prints the report.
    ///
    /// # Errors
    /// [`UserError`] for a wrong file or an empty selection.
    pub fn run(self) -> Result<()> {
        if let (Some(model), Some(positions)) = (&self.model, &self.positions) {
            self.positions(model, positions)
        } else {
            self.suites(&self.suite)
        }
    }

    /// Evaluates the network `model` on examples in the file `place`.
    fn positions(&self, model: &Path, place: &Path) -> Result<()> {
        let target = Target::new(self.temperature, self.moves)?;
        let share = self.share()?;
        let examples = open(place, target)?;
        let held = match share {
            Some(share) => Some(Held::new(&*examples, examples.share(share, DEFAULT_SHARE)?)),
            None => None,
        };
        let chosen = self.choose(&*examples, held.as_ref())?;
        let mut network = Network::choose(model, self.choice, self.device, CHUNK)?;
        let bar = progress::bar(chosen.len() as u64, "positions");
        let perspective = network.config.perspective;
        let evaluator = network.evaluator.as_mut();
        let report =
            evaluation::evaluate(evaluator, perspective, &*examples, &chosen, MATERIAL, |n| {
                bar.inc(n as u64);
            })?;
        bar.finish_and_clear();
        let fitted = held.as_ref().map_or(Fitted::ByHalves, |held| Fitted::On(&held.training));
        let baseline = baselines(perspective, &*examples, &chosen, fitted)?;
        let parity = self.parity(&mut network, &*examples, &chosen).transpose()?;
        let targets = examples.name().targets;
        let output = Output { report, targets, baseline, parity };
        let mut out = io::stdout().lock();
        if self.json {
            serde_json::to_writer(&mut out, &output).map_err(io::Error::from)?;
            return Ok(writeln!(out)?);
        }
        Ok(write!(out, "{output}")?)
    }

    /// The share that is held out, if only that is wanted, and if it is said.
    fn share(&self) -> Result<Option<Option<f64>>> {
        let share = self.held_out;
        if share.flatten().is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            let what = "the share is not between 0 and 1";
            return Err(UserError::new(what, "--held-out", "give a share as in 0.05").into());
        }
        Ok(share)
    }

    /// The comparison with the other network, if one is named.
    fn parity(
        &self,
        network: &mut Network,
        examples: &dyn Examples,
        chosen: &[u32],
    ) -> Option<Result<Parity>> {
        let path = self.against.as_deref()?;
        Some(Network::open(path, self.device, CHUNK).and_then(|mut other| {
            if other.config != network.config {
                return Err(foreign(&other.config, path, &network.config).into());
            }
            let batches = without_targets(examples, chosen, &network.config)?;
            let bar = progress::bar(chosen.len() as u64, "positions compared");
            let (own, other) = (network.evaluator.as_mut(), other.evaluator.as_mut());
            let differences = parity::compare(own, other, &batches, |n| bar.inc(n as u64));
            bar.finish_and_clear();
            Ok(Parity::of(&differences?))
        }))
    }

    fn choose(&self, examples: &dyn Examples, held: Option<&Held>) -> Result<Vec<u32>> {
        let limit = self.limit.unwrap_or(usize::MAX);
        let chosen: Vec<u32> = match held {
            Some(held) => held.out.evenly(limit),
            None => evenly_spaced(examples.count() as usize, limit).map(|n| n as u32).collect(),
        };
        if chosen.is_empty() {
            let mend = "give more games or openings, a larger share or a larger limit";
            let place = examples.place();
            return Err(UserError::new("no position to evaluate", place, mend).into());
        }
        Ok(chosen)
    }
}

/// Opens a labelled library, or records or games.
fn open(path: &Path, target: Target) -> Result<Box<dyn Examples>> {
    let spooled = pgn::spool(path)?;
    if matches!(kinds::of(&spooled)?, Kind::Library | Kind::Evaluations) {
        let read = labels::read(&[spooled.to_path_buf()], None)?;
        let paths = vec![path.to_owned()];
        return Ok(Box::new(Distillation::new(read.labels, target, paths)));
    }
    Ok(Box::new(Records::open(&spooled)?))
}

fn foreign(found: &Config, path: &Path, wanted: &Config) -> UserError {
    let (found, wanted) = (hash_text(found), hash_text(wanted));
    let what = format!("architecture hash {found} where the other network has {wanted}");
    UserError::new(what, path.display(), "quantize this very network and compare with that")
}

fn without_targets(
    examples: &dyn Examples,
    numbers: &[u32],
    config: &Config,
) -> Result<Vec<Batch>> {
    let batch = |chunk: &[u32]| {
        let mut batch = batches::with_capacity(chunk.len());
        for &number in chunk {
            batches::push(&mut batch, &examples.position(number)?, config.perspective);
        }
        Ok(batch)
    };
    numbers.chunks(CHUNK).map(batch).collect()
}
