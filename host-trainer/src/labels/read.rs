//! Libraries to labels: lines are parsed in parallel, equal positions merged.
use std::{
    collections::HashSet,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
};

use anyhow::Result;
use indicatif::ProgressBar;
use rayon::prelude::*;

use super::{
    comments::{self, View},
    evaluations::{self, Partial},
    store::{Labels, Packed},
};
use crate::{
    error::UserError,
    kinds::{self, Kind},
    library, pgn, positions, progress,
};

/// Lines parsed at a time, some 8 MB of text.
const LINES: usize = 4096;

/// What was read.
#[derive(Debug)]
pub struct Read {
    /// The positions, each once.
    pub labels: Labels,
    /// Lines whose position had come before, in the same file or another.
    pub again: usize,
}

/// Reads labelled libraries, evaluations as Lichess publishes them, and games with engines'
/// evaluations in their comments, plain or compressed by zstd. Of evaluations and games, broken
/// lines and games are left out with a warning; a library is whole or refused. A position that comes
/// again, by whatever moves and in whatever file, counts once, as first labelled: else it would
/// weigh twice, or be learned and held out at once.
///
/// `view` says whose view the evaluations in games are, if that is not to be found out.
///
/// # Errors
/// [`UserError`] naming the file, the line and the mend, as [`library::read`].
pub fn read(paths: &[PathBuf], view: Option<View>) -> Result<Read> {
    let mut reader = Reader { view, ..Reader::default() };
    let bar = progress::spinner("labelled positions");
    for path in paths {
        reader.file(path, &bar)?;
    }
    bar.finish_and_clear();
    let Reader { labels, again, .. } = reader;
    Ok(Read { labels, again })
}

#[derive(Default)]
struct Reader {
    labels: Labels,
    seen: HashSet<u128>,
    again: usize,
    view: Option<View>,
}

impl Reader {
    fn file(&mut self, path: &Path, bar: &ProgressBar) -> Result<()> {
        let path = &*pgn::spool(path)?;
        match kinds::of(path)? {
            Kind::Evaluations => self.evaluations(path, bar),
            Kind::Games => self.comments(path, bar),
            Kind::Records => {
                let mend = "give labelled libraries, or learn games with kibitzer train bc";
                Err(UserError::new("training records, which have no scores", path.display(), mend)
                    .into())
            }
            _ => self.library(path, bar),
        }
    }

    /// Takes in an evaluated position, held out with its game, or by itself.
    fn partial(&mut self, partial: &Partial, game: Option<u64>) {
        let key = positions::key(&partial.position);
        if self.seen.insert(key) {
            let group = game.unwrap_or(key as u64);
            self.labels.push(&Packed::partial(&partial.position, &partial.scores, group));
        } else {
            self.again += 1;
        }
    }

    fn evaluations(&mut self, path: &Path, bar: &ProgressBar) -> Result<()> {
        let skipped = evaluations::read(path, |partial, _| {
            self.partial(&partial, None);
            bar.inc(1);
            Ok(())
        })?;
        skipped.report();
        Ok(())
    }

    fn comments(&mut self, path: &Path, bar: &ProgressBar) -> Result<()> {
        let summary = comments::read(path, self.view, |partial, game| {
            self.partial(&partial, Some(game));
            bar.inc(1);
            Ok(())
        })?;
        summary.report();
        Ok(())
    }

    fn library(&mut self, path: &Path, bar: &ProgressBar) -> Result<()> {
        let before = self.labels.len() + self.again;
        let mut lines = (1..).zip(BufReader::new(pgn::open(path)?).lines());
        loop {
            let mut chunk = Vec::with_capacity(LINES);
            for (number, line) in lines.by_ref().take(LINES) {
                chunk.push((number, line.map_err(|error| UserError::cannot_read(path, &error))?));
            }
            if chunk.is_empty() {
                break;
            }
            self.chunk(path, &chunk)?;
            bar.inc(chunk.len() as u64);
        }
        if self.labels.len() + self.again == before {
            return Err(library::empty(path).into());
        }
        Ok(())
    }

    fn chunk(&mut self, path: &Path, lines: &[(usize, String)]) -> Result<()> {
        let parse = |(number, line): &(usize, String)| {
            let position = library::parse(line, path, *number)?;
            Ok((position.key(), Packed::new(&position)))
        };
        let filled = lines.par_iter().filter(|(_, line)| !line.trim().is_empty());
        // In order, so that the first mistake in the file is told.
        let parsed: Vec<Result<(u128, Packed), UserError>> = filled.map(parse).collect();
        for outcome in parsed {
            let (key, packed) = outcome?;
            if self.seen.insert(key) {
                self.labels.push(&packed);
            } else {
                self.again += 1;
            }
        }
        if self.labels.len() > u32::MAX as usize {
            let mend = "give fewer files at a time";
            let what = "more positions than can be numbered in 32 bits";
            return Err(UserError::new(what, path.display(), mend).into());
        }
        Ok(())
    }
}
