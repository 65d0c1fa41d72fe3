//! Records from a file of them, or straight from games.
use std::{
    collections::HashSet,
    ops::Deref,
    path::{Path, PathBuf},
};

use anyhow::Result;
use kibitzer_core::{
    inputs::Perspective,
    shakmaty::{Chess, Position as _},
};
use kibitzer_gpu::Batch;

use super::{PlayedOften, Record, RecordError, RecordFile, file::digest};
use crate::{
    bands::Band,
    batches,
    error::UserError,
    examples::{Examples, ExamplesName},
    pgn::{self, Filter},
};

/// Records to read; derefs to them. As examples, the moves played and the games' results are the
/// targets, and games are held out: of a file, where equal positions of several games are one
/// record, those that the file says.
#[derive(Debug)]
pub struct Records {
    path: PathBuf,
    source: Source,
}

#[derive(Debug)]
enum Source {
    /// A file made by `kibitzer pack`.
    Mapped(RecordFile),
    /// Games in PGN, packed in memory.
    Read(Vec<Record>),
}

impl Records {
    /// Opens a file of records or of games; `-` is games on standard input.
    ///
    /// # Errors
    /// [`UserError`] if it cannot be read or holds neither.
    pub fn open(path: &Path) -> Result<Records> {
        if RecordFile::recognises(path) {
            let source = Source::Mapped(RecordFile::open(path)?);
            return Ok(Records { path: path.to_owned(), source });
        }
        let mut records = Vec::new();
        let mut games = HashSet::new();
        let mut summary = pgn::read_all(&[path.to_owned()], &Filter::default(), |game| {
            if games.insert(game.hash) {
                records.extend(game.records());
            }
            Ok(())
        })?;
        summary.duplicates = summary.games - games.len() as u64;
        summary.games = games.len() as u64;
        summary.positions = records.len() as u64;
        summary.report();
        Ok(Records::in_memory(path, records))
    }

    /// Records that are in memory already, at least one; `path` is for messages.
    pub fn in_memory(path: &Path, records: Vec<Record>) -> Records {
        Records { path: path.to_owned(), source: Source::Read(records) }
    }

    /// The different moves played in a record's position, if they are more than one.
    pub fn played(&self, record: &Record) -> &[PlayedOften] {
        match &self.source {
            Source::Mapped(file) => file.played(record),
            Source::Read(_) => &[],
        }
    }

    /// Number of games, if the file says.
    pub fn games(&self) -> Option<u64> {
        match &self.source {
            Source::Mapped(file) => Some(file.games()),
            Source::Read(_) => None,
        }
    }

    fn damaged(&self, error: RecordError) -> UserError {
        UserError::new(error, self.path.display(), "make it again with kibitzer pack")
    }
}

impl Deref for Records {
    type Target = [Record];

    fn deref(&self) -> &[Record] {
        match &self.source {
            Source::Mapped(file) => file,
            Source::Read(records) => records,
        }
    }
}

impl Examples for Records {
    fn count(&self) -> u32 {
        u32::try_from(self.len()).expect("records are counted in u32")
    }

    fn position(&self, number: u32) -> Result<Chess, UserError> {
        self[number as usize].position().map_err(|error| self.damaged(error))
    }

    fn band(&self, number: u32) -> Result<Band, UserError> {
        let value = self[number as usize].outcomes.mean();
        Ok(Band::of(self.position(number)?.board(), value))
    }

    fn is_held_out(&self, number: u32, share: f64) -> bool {
        self[number as usize].is_held_out(share)
    }

    fn push(
        &self,
        batch: &mut Batch,
        number: u32,
        perspective: Perspective,
    ) -> Result<(), UserError> {
        let record = &self[number as usize];
        let pushed = batches::push_played(batch, record, self.played(record), perspective);
        pushed.map_err(|error| self.damaged(error))
    }

    fn name(&self) -> ExamplesName {
        let (fingerprint, targets) = match &self.source {
            Source::Mapped(file) => {
                (file.fingerprint(), "how often each move was played, and mean results")
            }
            Source::Read(records) => (digest(0, records), "moves played and results"),
        };
        ExamplesName::new(fingerprint, self.count(), targets)
    }

    fn fixed_share(&self) -> Option<f64> {
        match &self.source {
            Source::Mapped(file) => Some(file.held_out_share()),
            Source::Read(_) => None,
        }
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }
}
