//! `kibitzer pack`: games to training records.
use std::path::PathBuf;

use anyhow::Result;

use crate::{files, pgn, records::Writer};

/// Turn games (PGN, also .zst) into training records.
#[derive(Debug, clap::Args)]
pub struct Pack {
    /// Games in PGN, plain or compressed with zstd; `-` is standard input.
    #[arg(required = true, value_name = "GAMES")]
    games: Vec<PathBuf>,
    /// The file of records to write.
    #[arg(short, long, value_name = "RECORDS")]
    output: PathBuf,
}

impl Pack {
    /// Packs the games.
    ///
    /// # Errors
    /// [`crate::error::UserError`] for a file that cannot be read or written, or without a whole game.
    pub fn run(self) -> Result<()> {
        files::require_writable(&self.output)?;
        let summary = files::atomic_write(&self.output, |file| {
            let mut writer = Writer::new(file)?;
            let summary = pgn::read_all(&self.games, |game| writer.game(game))?;
            writer.finish()?;
            Ok(summary)
        })?;
        summary.report();
        Ok(())
    }
}
