//! `kibitzer train`: one subcommand a way of learning.
mod bc;
mod distill;
mod launch;
mod memory;
mod start;
mod trial;

use anyhow::Result;
use clap::Subcommand;

/// Train a network.
#[derive(Debug, clap::Args)]
pub struct Train {
    #[command(subcommand)]
    phase: Phase,
}

#[derive(Debug, Subcommand)]
enum Phase {
    Bc(bc::Bc),
    Distill(distill::Distill),
}

impl Train {
    /// Trains.
    ///
    /// # Errors
    /// [`crate::error::UserError`] for a wrong file, flag or configuration.
    pub fn run(self) -> Result<()> {
        match self.phase {
            Phase::Bc(bc) => bc.run(),
            Phase::Distill(distill) => distill.run(),
        }
    }
}
