//! The file of records: a 64-byte header, then the records.
use std::{
    fs::File,
    io::{Seek, SeekFrom, Write},
    ops::Deref,
    path::Path,
};

use anyhow::Result;
use bytemuck::{Pod, Zeroable};
use kibitzer_core::fnv;
use memmap2::Mmap;

use super::Record;
use crate::error::UserError;

const MAGIC: [u8; 8] = *b"KIBRECS\n";
/// Counts up whenever [`Record`] changes.
const VERSION: u32 = 1;
const PACK_AGAIN: &str = "make it again with kibitzer pack";

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    record_bytes: u32,
    records: u64,
    games: u64,
    /// Digest of the games' hashes in order: names the content.
    fingerprint: u64,
    reserved: [u64; 3],
}

const HEADER_BYTES: usize = size_of::<Header>();

impl Header {
    fn new(records: u64, games: u64, fingerprint: u64) -> Header {
        Header {
            magic: MAGIC,
            version: VERSION,
            record_bytes: size_of::<Record>() as u32,
            records,
            games,
            fingerprint,
            reserved: [0; 3],
        }
    }

    /// What is wrong with a file that starts with this header and has `bytes` bytes.
    fn fault(&self, bytes: usize) -> Option<String> {
        let record_bytes = size_of::<Record>() as u32;
        if self.magic != MAGIC {
            return Some("not a file of records".into());
        }
        if (self.version, self.record_bytes) != (VERSION, record_bytes) {
            return Some(format!(
                "records of version {} with {} bytes each, where this program reads version \
                 {VERSION} with {record_bytes}",
                self.version, self.record_bytes
            ));
        }
        if self.records == 0 || self.records > u64::from(u32::MAX) {
            return Some(format!("a count of {} records", self.records));
        }
        let body = (bytes - HEADER_BYTES) as u64;
        let promised = self.records * u64::from(record_bytes);
        (body != promised).then(|| {
            let whole = body / u64::from(record_bytes);
            format!("{whole} whole records where the header promises {}", self.records)
        })
    }
}

/// Writes records; the header comes last, so that a file cut short is never taken for whole.
#[derive(Debug)]
pub struct Writer<W: Write + Seek> {
    output: W,
    records: u64,
    games: u64,
    fingerprint: u64,
}

impl<W: Write + Seek> Writer<W> {
    /// Starts a file on `output`.
    ///
    /// # Errors
    /// The system's.
    pub fn new(mut output: W) -> Result<Writer<W>> {
        output.write_all(bytemuck::bytes_of(&Header::zeroed()))?;
        Ok(Writer { output, records: 0, games: 0, fingerprint: 0 })
    }

    /// Adds the records of one game.
    ///
    /// # Errors
    /// The system's.
    pub fn game(&mut self, records: &[Record]) -> Result<()> {
        self.output.write_all(bytemuck::cast_slice(records))?;
        self.records += records.len() as u64;
        self.games += 1;
        self.fingerprint = digest(self.fingerprint, records);
        Ok(())
    }

    /// Writes the header.
    ///
    /// # Errors
    /// The system's; [`UserError`] for more records than a file may have.
    pub fn finish(mut self) -> Result<()> {
        if self.records > u64::from(u32::MAX) {
            let what = format!("{} records, more than a file can hold", self.records);
            return Err(UserError::new(what, "the output", "pack the games in parts").into());
        }
        self.output.seek(SeekFrom::Start(0))?;
        let header = Header::new(self.records, self.games, self.fingerprint);
        Ok(self.output.write_all(bytemuck::bytes_of(&header))?)
    }
}

/// The digest of some records (0 is that of none) and of those that follow them: FNV-1a by words.
/// Results and clocks count too, not only the moves.
pub(super) fn digest(before: u64, records: &[Record]) -> u64 {
    bytemuck::cast_slice::<Record, u8>(records).chunks_exact(8).fold(before, |digest, word| {
        let word = word.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
        fnv::step(digest, word)
    })
}

/// A memory-mapped file of records; derefs to them.
#[derive(Debug)]
pub struct RecordFile {
    map: Mmap,
    fingerprint: u64,
}

impl RecordFile {
    /// Opens and checks `path`.
    ///
    /// # Errors
    /// [`UserError`] if it cannot be read, is no file of records, is of another version, or does
    /// not have the length that its header promises.
    pub fn open(path: &Path) -> Result<RecordFile> {
        let refuse = |what: &str| UserError::new(what, path.display(), PACK_AGAIN);
        let file = File::open(path).map_err(|error| UserError::cannot_read(path, &error))?;
        let map = map(&file).map_err(|error| UserError::cannot_read(path, &error))?;
        let Some(head) = map.get(..HEADER_BYTES) else {
            return Err(refuse("not a file of records").into());
        };
        let header: Header = bytemuck::pod_read_unaligned(head);
        match header.fault(map.len()) {
            Some(fault) => Err(refuse(&fault).into()),
            None => Ok(RecordFile { map, fingerprint: header.fingerprint }),
        }
    }

    /// Whether `path` starts as a file of records does, whole or not.
    pub fn recognises(path: &Path) -> bool {
        use std::io::Read as _;
        let mut start = [0; MAGIC.len()];
        File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == MAGIC
    }

    /// Digest of the games: two files with the same games in the same order have the same.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

impl Deref for RecordFile {
    type Target = [Record];

    fn deref(&self) -> &[Record] {
        // The map starts on a page, the header is a multiple of the record's alignment, and
        // `open` has checked the length: the cast cannot fail.
        bytemuck::cast_slice(&self.map[HEADER_BYTES..])
    }
}

#[allow(unsafe_code, reason = "the only way to map a file")]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the map is read-only and private to this process's readers, and any bytes are a
    // valid `Record`. Whoever rewrites the file in place while it is mapped can change what is
    // read, or, by cutting it, end the process with SIGBUS; `pack` never does either, it renames.
    unsafe { Mmap::map(file) }
}

#[cfg(test)]
mod tests {
    use kibitzer_core::shakmaty::{Chess, Position as _};

    use super::*;
    use crate::files::atomic_write;

    fn write(path: &Path) -> Vec<Record> {
        let position = Chess::default();
        let game: Vec<Record> =
            position.legal_moves().iter().map(|&mv| Record::new(&position, mv, 0)).collect();
        atomic_write(path, |file| {
            let mut writer = Writer::new(file)?;
            writer.game(&game)?;
            writer.finish()
        })
        .unwrap();
        game
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records");
        let game = write(&path);
        assert_eq!(*RecordFile::open(&path).unwrap(), game);
        assert!(RecordFile::recognises(&path));
    }

    #[test]
    fn a_broken_file_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records");
        write(&path);
        let whole = std::fs::read(&path).unwrap();
        let refused = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let error = RecordFile::open(&path).unwrap_err();
            assert!(error.is::<UserError>());
            error.to_string().replace(&path.display().to_string(), "R")
        };
        assert_eq!(
            refused(&whole[..whole.len() - 1]),
            "19 whole records where the header promises 20, R: make it again with kibitzer pack"
        );
        assert!(refused(b"KIBRECS\n").starts_with("not a file of records, R"));
        assert!(refused(&[0; 500]).starts_with("not a file of records, R"));
        let mut other = whole.clone();
        other[8] = 9;
        assert!(refused(&other).starts_with("records of version 9 "));
        let mut none = whole[..HEADER_BYTES].to_vec();
        none[16..24].fill(0);
        assert!(refused(&none).starts_with("a count of 0 records"));
    }
}
