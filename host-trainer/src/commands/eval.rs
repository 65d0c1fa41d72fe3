//! `kibitzer eval`: how well a network predicts games.
use std::{
    io::{self, Write as _},
    path::PathBuf,
};

use anyhow::Result;

use crate::{
    device::Device,
    evaluation::{self, CHUNK, Report},
    network::Network,
    progress,
    records::{DEFAULT_SHARE, Record, Records, blame},
};

/// Material pairs tried.
const PAIRS: usize = 1000;

/// Measure a network on games: move prediction, value, material order.
#[derive(Debug, clap::Args)]
pub struct Eval {
    /// A model.safetensors, a checkpoint or a run's folder.
    model: PathBuf,
    /// Records made by kibitzer pack, or games in PGN.
    games: PathBuf,
    /// Only the games that training holds out (of all: this share).
    #[arg(long, value_name = "SHARE", num_args = 0..=1, require_equals = true)]
    held_out: Option<Option<f64>>,
    /// At most so many positions, evenly spaced.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Where to compute.
    #[arg(long, value_enum, default_value_t)]
    device: Device,
}

impl Eval {
    /// Evaluates and prints the report.
    ///
    /// # Errors
    /// [`crate::error::UserError`] for a wrong file or an empty selection.
    pub fn run(self) -> Result<()> {
        let records = Records::open(&self.games)?;
        let chosen = self.choose(&records)?;
        let mut network = Network::open(&self.model, self.device, CHUNK)?;
        let bar = progress::bar(chosen.len() as u64, "positions");
        let perspective = network.config.perspective;
        let evaluator = network.evaluator.as_mut();
        let report =
            evaluation::evaluate(evaluator, perspective, &chosen, PAIRS, |n| bar.inc(n as u64))
                .map_err(|error| blame(error, &self.games))?;
        bar.finish_and_clear();
        self.print(&report)
    }

    fn choose<'a>(&self, records: &'a Records) -> Result<Vec<&'a Record>> {
        let share = self.held_out.map(|share| share.unwrap_or(DEFAULT_SHARE));
        let wanted = |record: &&Record| share.is_none_or(|share| record.is_held_out(share));
        let all: Vec<&Record> = records.iter().filter(wanted).collect();
        let limit = self.limit.unwrap_or(all.len());
        let chosen: Vec<&Record> = evaluation::evenly(&all, limit).collect();
        if chosen.is_empty() {
            let mend = "give more games, a larger share or a larger limit";
            let place = self.games.display();
            return Err(crate::error::UserError::new("no position to evaluate", place, mend).into());
        }
        Ok(chosen)
    }

    fn print(&self, report: &Report) -> Result<()> {
        let mut out = io::stdout().lock();
        if self.json {
            serde_json::to_writer(&mut out, report).map_err(io::Error::from)?;
            return Ok(writeln!(out)?);
        }
        let Report { positions, top1, top5, cross_entropy, value, material } = report;
        writeln!(out, "positions            {positions}")?;
        writeln!(out, "top-1                {:.2} %", 100.0 * top1)?;
        writeln!(out, "top-5                {:.2} %", 100.0 * top5)?;
        writeln!(out, "cross-entropy        {cross_entropy:.4} nats")?;
        writeln!(out, "value correlation    {:.3}", value.correlation)?;
        writeln!(out, "value calibration    {:.3} (expected error)", value.ece)?;
        writeln!(out, "value squared error  {:.3}", value.mse)?;
        let rate = 100.0 * material.pass_rate;
        Ok(writeln!(out, "material order       {rate:.1} % of {} pairs", material.pairs)?)
    }
}
