//! `kibitzer train bc`: behaviour cloning, the moves and results of games.
use std::{path::PathBuf, sync::Arc};

use anyhow::Result;

use super::launch::Launch;
use crate::records::Records;

/// Learn the moves played and the results: cross-entropy plus a weight times squared error.
///
/// One game in twenty is held out. Ctrl-C saves and stops; --resume goes on, and the losses are
/// then those of a run that was never stopped.
#[derive(Debug, clap::Args)]
pub struct Bc {
    /// Records made by kibitzer pack, or games in PGN.
    records: PathBuf,
    #[command(flatten)]
    launch: Launch,
}

impl Bc {
    /// Trains to the end or until Ctrl-C.
    ///
    /// # Errors
    /// [`crate::error::UserError`] for a wrong file, flag or configuration;
    /// [`crate::cli::Interrupted`] after Ctrl-C.
    pub fn run(self) -> Result<()> {
        if self.launch.memory {
            return self.launch.print_memory();
        }
        self.launch.run(Arc::new(Records::open(&self.records)?))
    }
}
