//! `kibitzer eval`: how well a network predicts games.
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
    evaluation::{self, CHUNK, Report},
    examples::Examples,
    model::hash_text,
    network::Network,
    progress,
    quantize::{Parity, parity},
    records::{DEFAULT_SHARE, Records},
};

/// Material pairs tried.
const PAIRS: usize = 1000;

/// Measure a network on games: move prediction, value, material order.
#[derive(Debug, clap::Args)]
pub struct Eval {
    /// A .kbz, a model.safetensors, a checkpoint or a run's folder.
    model: PathBuf,
    /// Records made by kibitzer pack, or games in PGN.
    games: PathBuf,
    /// Only the games that training holds out (of all: this share).
    #[arg(long, value_name = "SHARE", num_args = 0..=1, require_equals = true)]
    held_out: Option<Option<f64>>,
    /// At most so many positions, evenly spaced.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    parity: Option<Parity>,
}

impl Eval {
    /// Evaluates and prints the report.
    ///
    /// # Errors
    /// [`UserError`] for a wrong file or an empty selection.
    pub fn run(self) -> Result<()> {
        let records = Records::open(&self.games)?;
        let chosen = self.choose(&records)?;
        let mut network = Network::open(&self.model, self.device, CHUNK)?;
        let bar = progress::bar(chosen.len() as u64, "positions");
        let perspective = network.config.perspective;
        let evaluator = network.evaluator.as_mut();
        let report = evaluation::evaluate(evaluator, perspective, &records, &chosen, PAIRS, |n| {
            bar.inc(n as u64);
        })?;
        bar.finish_and_clear();
        let parity = self.parity(&mut network, &records, &chosen).transpose()?;
        self.print(&Output { report, parity })
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
            let parity = parity::compare(own, other, &batches, |n| bar.inc(n as u64));
            bar.finish_and_clear();
            parity
        }))
    }

    fn choose(&self, examples: &dyn Examples) -> Result<Vec<u32>> {
        let share = self.held_out.map(|share| share.unwrap_or(DEFAULT_SHARE));
        if share.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            let what = "the share is not between 0 and 1";
            return Err(UserError::new(what, "--held-out", "give a share as in 0.05").into());
        }
        let wanted = |&number: &u32| share.is_none_or(|share| examples.is_held_out(number, share));
        let all: Vec<u32> = (0..examples.count()).filter(wanted).collect();
        let limit = self.limit.unwrap_or(all.len());
        let chosen: Vec<u32> = evaluation::evenly(&all, limit).collect();
        if chosen.is_empty() {
            let mend = "give more games, a larger share or a larger limit";
            let place = self.games.display();
            return Err(UserError::new("no position to evaluate", place, mend).into());
        }
        Ok(chosen)
    }

    fn print(&self, output: &Output) -> Result<()> {
        let mut out = io::stdout().lock();
        if self.json {
            serde_json::to_writer(&mut out, output).map_err(io::Error::from)?;
            return Ok(writeln!(out)?);
        }
        let Report { positions, top1, top5, cross_entropy, value, material } = &output.report;
        writeln!(out, "positions            {positions}")?;
        writeln!(out, "top-1                {:.2} %", 100.0 * top1)?;
        writeln!(out, "top-5                {:.2} %", 100.0 * top5)?;
        writeln!(out, "cross-entropy        {cross_entropy:.4} nats")?;
        writeln!(out, "value correlation    {:.3}", value.correlation)?;
        writeln!(out, "value calibration    {:.3} (expected error)", value.ece)?;
        writeln!(out, "value squared error  {:.3}", value.mse)?;
        let rate = 100.0 * material.pass_rate;
        writeln!(out, "material order       {rate:.1} % of {} pairs", material.pairs)?;
        if let Some(parity) = &output.parity {
            write!(out, "{parity}")?;
        }
        Ok(())
    }
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
