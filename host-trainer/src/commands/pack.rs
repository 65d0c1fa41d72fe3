//! `kibitzer pack`: games to training records.
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::{
    error::UserError,
    files,
    pgn::{self, Games, Summary},
    progress,
    records::Writer,
};

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
    /// [`UserError`] for a file that cannot be read or written, or without a whole game.
    pub fn run(self) -> Result<()> {
        files::require_writable(&self.output)?;
        let summary = files::atomic_write(&self.output, |file| {
            let mut writer = Writer::new(file)?;
            let summary = read_all(&self.games, |game| writer.game(game))?;
            writer.finish()?;
            Ok(summary)
        })?;
        report(&summary);
        Ok(())
    }
}

/// Hands every whole game of `paths` to `take`, with a spinner that counts positions.
///
/// # Errors
/// [`UserError`] if a file cannot be read, or if none holds a whole game; `take`'s own.
pub fn read_all(
    paths: &[PathBuf],
    mut take: impl FnMut(&[crate::records::Record]) -> Result<()>,
) -> Result<Summary> {
    let spinner = progress::spinner("positions");
    let mut games = Games::default();
    for path in paths {
        let text = pgn::open(path)?;
        games.read(path, text, |game| {
            spinner.inc(game.len() as u64);
            take(game)
        })?;
    }
    spinner.finish_and_clear();
    let summary = games.summary().clone();
    if summary.games == 0 {
        return Err(no_games(&paths[0], &summary).into());
    }
    Ok(summary)
}

fn no_games(path: &Path, summary: &Summary) -> UserError {
    let what = match summary.reasons.first() {
        Some(reason) => format!("no whole game ({} skipped; {reason})", summary.skipped),
        None => "no games".into(),
    };
    UserError::new(what, path.display(), "give a PGN file with finished games")
}

/// Says on standard error what was read and what was not.
pub fn report(summary: &Summary) {
    let Summary { games, positions, duplicates, skipped, .. } = summary;
    tracing::info!(
        "{positions} positions of {games} games; {duplicates} repeated games left out, \
         {skipped} skipped"
    );
    for reason in &summary.reasons {
        tracing::warn!("skipped {reason}");
    }
}
