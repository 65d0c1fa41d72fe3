//! Positions of a file of records, read from its memory map when their turn comes: the file may be
//! larger than memory, and a shard reads no more than its own stretch.
use std::path::Path;

use anyhow::Result;

use super::source::Root;
use crate::{
    positions,
    records::{Record, RecordFile},
};

/// The positions of a file of records, in its order, which is a hash's: any stretch has all
/// openings and phases.
#[derive(Debug)]
pub struct Recorded {
    file: RecordFile,
    count: usize,
}

impl Recorded {
    /// Opens the file; at most `limit` of its positions, evenly spaced.
    ///
    /// # Errors
    /// [`crate::error::UserError`] if it cannot be read or is damaged.
    pub fn open(path: &Path, limit: Option<u64>) -> Result<Recorded> {
        let file = RecordFile::open(path)?;
        let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(Recorded { count: file.len().min(limit), file })
    }

    /// How many records there are.
    pub fn count(&self) -> u64 {
        self.count as u64
    }

    /// A digest of the records.
    pub fn digest(&self) -> u64 {
        self.file.fingerprint()
    }

    /// Record `number`, which is there.
    fn at(&self, number: u64) -> &Record {
        let place = u128::from(number) * self.file.len() as u128 / self.count as u128;
        &self.file[place as usize]
    }

    /// Whether number `number` is another position than the one before: one that training and
    /// held-out games have reached is two records, side by side.
    pub(super) fn is_new(&self, number: u64) -> bool {
        let Some(before) = number.checked_sub(1) else { return true };
        !same(self.at(before), self.at(number))
    }

    /// Position `number`; `None` if there is none, or it is damaged.
    pub(super) fn root(&self, number: u64) -> Option<Root> {
        let record = self.at(number);
        Some(Root {
            opening: format!("game {:016x}", record.game_hash),
            game: number,
            ply: record.packed.ply.into(),
            last: None,
            position: record.position().ok()?,
        })
    }
}

/// Whether two records are of the same position.
fn same(a: &Record, b: &Record) -> bool {
    let key = |record: &Record| record.position().ok().map(|position| positions::key(&position));
    a.packed.has_same_pieces(&b.packed) && key(a) == key(b)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use super::*;
    use crate::{
        files::atomic_write,
        pgn::Filter,
        records::{Packing, Split, pack},
        shard::Shard,
    };

    #[test]
    fn positions_of_both_sides_of_a_split_count_once() {
        let folder = tempfile::tempdir().unwrap();
        let games = folder.path().join("games.pgn");
        let text: String = (b'a'..=b'h')
            .map(|file| {
                let file = char::from(file);
                format!("1. {file}3 {file}6 2. {file}4 1-0\n\n")
            })
            .collect();
        fs::write(&games, text).unwrap();
        let path = folder.path().join("records");
        let packing = Packing::new(Filter::default(), Split::Share(0.5), Shard::default());
        let games: [PathBuf; 1] = [games];
        atomic_write(&path, |file| pack(&games, &packing, &path, file)).unwrap();
        let all = Recorded::open(&path, None).unwrap();
        // The start is on both sides.
        assert_eq!(all.count(), 1 + 1 + 8 * 2);
        let new: Vec<u64> = (0..all.count()).filter(|&number| all.is_new(number)).collect();
        assert_eq!(new.len(), 1 + 8 * 2);
        let starts = new.iter().filter(|&&number| all.root(number).unwrap().ply == 0).count();
        assert_eq!(starts, 1);
        let some = Recorded::open(&path, Some(5)).unwrap();
        let keys =
            |recorded: &Recorded, number| positions::key(&recorded.root(number).unwrap().position);
        assert_eq!(some.count(), 5);
        assert_eq!(keys(&some, 4), keys(&all, 4 * 18 / 5));
    }
}
