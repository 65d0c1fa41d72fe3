//! `--memory`: what a run keeps in memory.
use std::io::{self, Write as _};

use anyhow::Result;
use indicatif::BinaryBytes;

use super::launch::{Launch, at_once};

impl Launch {
    /// Prints what training keeps in memory, part by part; trains and writes nothing.
    ///
    /// # Errors
    /// [`crate::error::UserError`] for a wrong flag or architecture, or a device that is not
    /// there or cannot hold the network.
    pub(super) fn print_memory(&self) -> Result<()> {
        let (settings, config) = self.first_config()?;
        let (device, precision) =
            (self.device.unwrap_or_default(), self.precision.unwrap_or_default());
        let average = settings.ema.is_some();
        let plan = device.plan(&config, at_once(&settings), precision, average)?;
        let parts = settings.batch.div_ceil(plan.positions);
        let mut out = io::stdout().lock();
        for (name, bytes) in plan.parts() {
            writeln!(out, "{name:16}{:>12}", BinaryBytes(bytes).to_string())?;
        }
        writeln!(out, "{:16}{:>12}", "all", BinaryBytes(plan.total()).to_string())?;
        Ok(writeln!(
            out,
            "a step          {} positions, in {parts} parts of at most {} positions",
            settings.batch, plan.positions
        )?)
    }
}
