//! Libraries to labels: lines are parsed in parallel, equal positions merged.
use std::{
    collections::HashSet,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
};

use anyhow::Result;
use indicatif::ProgressBar;
use rayon::prelude::*;

use super::store::{Labels, Packed};
use crate::{error::UserError, library, pgn, progress};

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

/// Whether the text at `path` starts as a labelled library does. Standard input is none.
///
/// # Errors
/// [`UserError`] if it cannot be read.
pub fn recognises(path: &Path) -> Result<bool> {
    if path == Path::new("-") {
        return Ok(false);
    }
    let mut start = [0; 1];
    let read = BufReader::new(pgn::open(path)?).read(&mut start);
    // What cannot be decompressed is no library; who reads it in earnest says so.
    Ok(read.is_ok() && start[0] == b'{')
}

/// Reads labelled libraries, JSON lines or the same compressed by zstd. A position that comes
/// again, by whatever moves and in whatever file, counts once, as first labelled: else it would
/// weigh twice, or be learned and held out at once.
///
/// # Errors
/// [`UserError`] naming the file, the line and the mend, as [`library::read`].
pub fn read(paths: &[PathBuf]) -> Result<Read> {
    let mut reader = Reader::default();
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
}

impl Reader {
    fn file(&mut self, path: &Path, bar: &ProgressBar) -> Result<()> {
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
