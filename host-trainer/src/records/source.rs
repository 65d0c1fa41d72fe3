//! Records from a file of them, or straight from games.
use std::{
    ops::Deref,
    path::{Path, PathBuf},
};

use anyhow::Result;

use super::{Record, RecordFile};
use crate::pgn;

/// Records to read; derefs to them.
#[derive(Debug)]
pub enum Records {
    /// A file made by `kibitzer pack`.
    Mapped(RecordFile),
    /// Games in PGN, packed in memory.
    Read(Vec<Record>),
}

impl Records {
    /// Opens a file of records or of games; `-` is games on standard input.
    ///
    /// # Errors
    /// [`crate::error::UserError`] if it cannot be read or holds neither.
    pub fn open(path: &Path) -> Result<Records> {
        if RecordFile::recognises(path) {
            return RecordFile::open(path).map(Records::Mapped);
        }
        let mut records = Vec::new();
        let summary = pgn::read_all(&[PathBuf::from(path)], |game| {
            records.extend_from_slice(game);
            Ok(())
        })?;
        summary.report();
        Ok(Records::Read(records))
    }
}

impl Deref for Records {
    type Target = [Record];

    fn deref(&self) -> &[Record] {
        match self {
            Records::Mapped(file) => file,
            Records::Read(records) => records,
        }
    }
}
