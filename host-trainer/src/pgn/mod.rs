//! Games in PGN to positions: [`open`] finds the text, [`Games`] reads it.
//!
//! | file | holds |
//! | --- | --- |
//! | `source.rs` | files and standard input, plain or compressed |
//! | `lines.rs`, `movetext.rs` | the text in lines, and a line in words and comments |
//! | `reader.rs` | from lines to a game |
//! | `game.rs`, `fault.rs` | its positions, or why it is skipped |
//! | `ending.rs`, `tags.rs`, `filter.rs` | what is asked of a game |
mod ending;
mod fault;
mod filter;
mod game;
mod lines;
mod movetext;
mod reader;
mod source;
mod tags;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use anyhow::Result;
pub use ending::Ending;
use fault::Fault;
pub use filter::{Filter, Range, Unwanted};
pub use game::{Game, Step};
use lines::{End, Lines};
use reader::GameReader;
pub use source::{Spool, open, spool};
pub use tags::{Date, Tags};

use crate::{error::UserError, progress};

/// Reasons kept for [`Summary::reasons`].
const REASONS: usize = 3;

/// What became of the games.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Games read.
    pub games: u64,
    /// Positions in them.
    pub positions: u64,
    /// Games left out because one with the same moves came before.
    pub duplicates: u64,
    /// Games that were not asked for, by what the filter asks.
    pub unwanted: BTreeMap<Unwanted, u64>,
    /// Games left out because they are broken or without a result.
    pub skipped: u64,
    /// Why, for the first three: file, game (from 1), reason.
    pub reasons: Vec<String>,
}

impl Summary {
    /// Says on standard error what was read and what was not.
    pub fn report(&self) {
        let Summary { games, positions, duplicates, skipped, .. } = self;
        tracing::info!(
            "{positions} positions of {games} games; {duplicates} repeated games left out, \
             {skipped} skipped"
        );
        if !self.unwanted.is_empty() {
            let counts = self.unwanted.iter().map(|(why, count)| format!("{count} by {why}"));
            tracing::info!("not asked for: {}", counts.collect::<Vec<_>>().join(", "));
        }
        for reason in &self.reasons {
            tracing::warn!("skipped {reason}");
        }
    }

    /// Counts a game that is not taken.
    fn leave_out(&mut self, name: &Path, number: u64, fault: &Fault) {
        if let Fault::Unwanted(why) = fault {
            *self.unwanted.entry(*why).or_default() += 1;
            return;
        }
        self.skipped += 1;
        if self.reasons.len() < REASONS {
            self.reasons.push(format!("{} game {number}: {fault}", name.display()));
        }
    }
}

/// Reads games.
#[derive(Debug, Default)]
pub struct Games {
    reader: GameReader,
    summary: Summary,
}

impl Games {
    /// Reads those that the filter asks for; their comments are kept if that is wanted.
    pub fn new(filter: &Filter, comments: bool) -> Games {
        Games { reader: GameReader::new(filter.clone(), comments), summary: Summary::default() }
    }

    /// Calls `take` with every whole game of the PGN text `input`, named `name` in errors. A
    /// broken game is skipped whole, with its reason in the summary.
    ///
    /// # Errors
    /// [`UserError`] if the text breaks off (a damaged archive); whatever `take` fails with.
    pub fn read(
        &mut self,
        name: &Path,
        input: impl io::Read,
        mut take: impl FnMut(&Game) -> Result<()>,
    ) -> Result<()> {
        let mut lines = Lines::new(input);
        let (mut number, mut cut) = (1, false);
        self.reader.begin();
        loop {
            let line = lines.next().map_err(|error| breaks_off(name, number, &error))?;
            if line.is_none_or(|(line, _)| self.reader.ends_before(line)) {
                number += u64::from(self.end(name, number, cut, &mut take)?);
            }
            let Some((line, end)) = line else { return Ok(()) };
            self.reader.line(line, end);
            cut = end == End::Text;
        }
    }

    /// Closes game `number` and hands it out, or counts it as left out; says whether there was one.
    fn end(
        &mut self,
        name: &Path,
        number: u64,
        cut: bool,
        take: &mut impl FnMut(&Game) -> Result<()>,
    ) -> Result<bool> {
        let found = self.reader.end(cut);
        match &found {
            Some(Ok(())) => {
                let game = self.reader.game();
                self.summary.games += 1;
                self.summary.positions += game.steps.len() as u64;
                take(&game)?;
            }
            Some(Err(fault)) => self.summary.leave_out(name, number, fault),
            None => {}
        }
        self.reader.begin();
        Ok(found.is_some())
    }

    /// What has been read so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }
}

fn breaks_off(name: &Path, game: u64, error: &io::Error) -> UserError {
    UserError::new(
        format_args!("the text breaks off in game {game} ({error})"),
        name.display(),
        "the file is damaged or cut short; get it again",
    )
}

/// Hands every whole game of `paths` that the filter asks for to `take`, with a spinner that
/// counts positions.
///
/// # Errors
/// [`UserError`] if a file cannot be read, or if none holds a whole game; `take`'s own.
pub fn read_all(
    paths: &[PathBuf],
    filter: &Filter,
    mut take: impl FnMut(&Game) -> Result<()>,
) -> Result<Summary> {
    let spinner = progress::spinner("positions");
    let mut games = Games::new(filter, false);
    for path in paths {
        let text = open(path)?;
        games.read(path, text, |game| {
            spinner.inc(game.steps.len() as u64);
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

/// The refusal of text without a game that can be read.
pub fn no_games(path: &Path, summary: &Summary) -> UserError {
    if !summary.unwanted.is_empty() {
        let counts: Vec<String> =
            summary.unwanted.iter().map(|(why, count)| format!("{count} by {why}")).collect();
        let what = format!("no game is asked for ({} left out)", counts.join(", "));
        return UserError::new(what, path.display(), "widen the filter's ranges");
    }
    let what = match summary.reasons.first() {
        Some(reason) => format!("no whole game ({} skipped; {reason})", summary.skipped),
        None => "no games".into(),
    };
    UserError::new(what, path.display(), "give a PGN file with finished games")
}

#[cfg(test)]
mod tests;
