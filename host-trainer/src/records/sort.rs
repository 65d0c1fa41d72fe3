//! Sorting more than memory holds: sorted runs in temporary files, merged.
use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    fs::File,
    io::{BufReader, BufWriter, Read, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Result;
use bytemuck::Pod;
use rayon::prelude::*;

use crate::error::UserError;

/// Runs merged at once: each has a buffer.
const FAN_IN: usize = 64;
/// Bytes of such a buffer.
const BUFFER: usize = 1 << 20;

/// Sorts items of a fixed size by the key that `order` finds; equal ones come in any order.
///
/// Memory: `capacity` items, and later [`FAN_IN`] buffers, whatever the number of items. What does
/// not fit lies in files without a name in `folder`, which a kill leaves nothing of.
#[derive(Debug)]
pub struct Sorter<T, F> {
    order: F,
    folder: PathBuf,
    capacity: usize,
    items: Vec<T>,
    runs: Vec<File>,
}

impl<T, K, F> Sorter<T, F>
where
    T: Pod + Send,
    K: Ord,
    F: Fn(&T) -> K + Sync + Copy,
{
    /// A sorter that keeps `capacity` items in memory, at least 1.
    pub fn new(folder: &Path, capacity: usize, order: F) -> Sorter<T, F> {
        let folder = folder.to_owned();
        Sorter { order, folder, capacity: capacity.max(1), items: vec![], runs: vec![] }
    }

    /// Adds an item.
    ///
    /// # Errors
    /// [`UserError`] if the folder has no room.
    pub fn push(&mut self, item: T) -> Result<()> {
        self.items.push(item);
        if self.items.len() == self.capacity { self.spill() } else { Ok(()) }
    }

    fn sort(&mut self) {
        self.items.par_sort_unstable_by_key(self.order);
    }

    /// Writes what is in memory as a run.
    fn spill(&mut self) -> Result<()> {
        self.sort();
        let items = std::mem::take(&mut self.items);
        self.runs.push(self.write(|file| Ok(file.write_all(bytemuck::cast_slice(&items))?))?);
        self.items = items;
        self.items.clear();
        Ok(())
    }

    fn write(&self, fill: impl FnOnce(&mut BufWriter<&File>) -> Result<()>) -> Result<File> {
        let refuse = |error: &std::io::Error| UserError::cannot_write(&self.folder, error);
        let mut file = tempfile::tempfile_in(&self.folder).map_err(|error| refuse(&error))?;
        let mut writer = BufWriter::with_capacity(BUFFER, &file);
        let filled = fill(&mut writer).and_then(|()| Ok(writer.flush()?));
        drop(writer);
        filled.map_err(|error| match error.downcast::<std::io::Error>() {
            Ok(error) => refuse(&error).into(),
            Err(error) => error,
        })?;
        file.seek(SeekFrom::Start(0)).map_err(|error| refuse(&error))?;
        Ok(file)
    }

    /// All items in order.
    ///
    /// # Errors
    /// [`UserError`] if the folder has no room; the iterator's are the system's.
    pub fn finish(mut self) -> Result<Sorted<T, K, F>> {
        if self.runs.is_empty() {
            self.sort();
            let items = std::mem::take(&mut self.items);
            return Ok(Sorted::InMemory(items.into_iter()));
        }
        if !self.items.is_empty() {
            self.spill()?;
        }
        self.items = vec![];
        while self.runs.len() > FAN_IN {
            let some = self.runs.drain(..FAN_IN).collect();
            let merged = Merge::new(some, self.order)?;
            let run = self.write(|file| {
                for item in merged {
                    file.write_all(bytemuck::bytes_of(&item?))?;
                }
                Ok(())
            })?;
            self.runs.push(run);
        }
        Ok(Sorted::Merged(Merge::new(std::mem::take(&mut self.runs), self.order)?))
    }
}

/// Items in order.
pub enum Sorted<T, K: Ord, F> {
    /// All fitted in memory.
    InMemory(std::vec::IntoIter<T>),
    /// From runs.
    Merged(Merge<T, K, F>),
}

impl<T: Pod, K: Ord, F: Fn(&T) -> K> Iterator for Sorted<T, K, F> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        match self {
            Sorted::InMemory(items) => items.next().map(Ok),
            Sorted::Merged(merge) => merge.next(),
        }
    }
}

/// Several runs as one.
pub struct Merge<T, K: Ord, F> {
    runs: Vec<(BufReader<File>, T)>,
    /// The key of each run's next item, with its number.
    next: BinaryHeap<Reverse<(K, usize)>>,
    order: F,
}

impl<T: Pod, K: Ord, F: Fn(&T) -> K> Merge<T, K, F> {
    fn new(files: Vec<File>, order: F) -> Result<Merge<T, K, F>> {
        let mut merge = Merge { runs: Vec::new(), next: BinaryHeap::new(), order };
        for file in files {
            merge.runs.push((BufReader::with_capacity(BUFFER, file), T::zeroed()));
            merge.advance(merge.runs.len() - 1)?;
        }
        Ok(merge)
    }

    /// Reads the next item of run `number`, if it has one.
    fn advance(&mut self, number: usize) -> Result<()> {
        let (reader, item) = &mut self.runs[number];
        match reader.read_exact(bytemuck::bytes_of_mut(item)) {
            Ok(()) => {
                self.next.push(Reverse(((self.order)(item), number)));
                Ok(())
            }
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl<T: Pod, K: Ord, F: Fn(&T) -> K> Iterator for Merge<T, K, F> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        let Reverse((_, number)) = self.next.pop()?;
        let item = self.runs[number].1;
        Some(self.advance(number).map(|()| item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(count: u64, capacity: usize) -> Vec<u64> {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(folder.path(), capacity, |&x: &u64| x);
        // A walk over all numbers below a prime, in no order.
        (0..count).for_each(|i| sorter.push(i * 7919 % 10_007).unwrap());
        let sorted = sorter.finish().unwrap().collect::<Result<Vec<u64>>>().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
        sorted
    }

    #[test]
    fn any_room_gives_the_same_order() {
        let whole = sorted(10_007, 1 << 20);
        assert_eq!(whole, (0..10_007).collect::<Vec<_>>());
        // 2, 101 and 1001 runs: of the last, some are merged before all are.
        for capacity in [8000, 100, 10] {
            assert_eq!(sorted(10_007, capacity), whole);
        }
        assert!(sorted(0, 5).is_empty());
    }
}
