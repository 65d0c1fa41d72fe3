//! The file of records: a 64-byte header, the records, and the lists of moves of those positions
//! in which several were played.
use std::{
    fs::File,
    io::{self, BufWriter, Seek, SeekFrom, Write},
    ops::Deref,
    path::Path,
};

use anyhow::Result;
use bytemuck::{Pod, Zeroable};
use kibitzer_core::fnv;
use memmap2::Mmap;

use super::{PlayedOften, Record, Side, Split};
use crate::{error::UserError, pgn::Date};

const MAGIC: [u8; 8] = *b"KIBRECS\n";
/// Counts up whenever [`Record`] changes.
const VERSION: u32 = 2;
const PACK_AGAIN: &str = "make it again with kibitzer pack";

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    record_bytes: u32,
    records: u64,
    /// Entries of the list of moves behind the records.
    choices: u64,
    games: u64,
    /// Digest of records and list: names the content.
    fingerprint: u64,
    /// Share that is held out: of the games where they are split by hash, else of the records.
    share: f64,
    /// The day from which games are held out, as in 20190630; 0 where hashes decide.
    from: u32,
    reserved: u32,
}

const HEADER_BYTES: usize = size_of::<Header>();

impl Header {
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
        let limit = u64::from(u32::MAX);
        if self.records == 0 || self.records > limit || self.choices > limit {
            return Some(format!("a count of {} records", self.records));
        }
        let promised = HEADER_BYTES as u64
            + self.records * size_of::<Record>() as u64
            + self.choices * size_of::<PlayedOften>() as u64;
        (bytes as u64 != promised)
            .then(|| format!("{bytes} bytes where the header promises {promised}"))
    }
}

/// Writes records; the header comes last, so that a file cut short is never taken for whole.
#[derive(Debug)]
pub struct Writer<W: Write + Seek> {
    output: W,
    split: Split,
    records: u64,
    held_out: u64,
    fingerprint: u64,
    /// The lists of moves, until the records are all there.
    lists: BufWriter<File>,
    choices: u64,
    lists_digest: u64,
}

impl<W: Write + Seek> Writer<W> {
    /// Starts a file on `output`; what comes behind the records waits in a file without a name
    /// in `folder`.
    ///
    /// # Errors
    /// The system's.
    pub fn new(mut output: W, folder: &Path, split: Split) -> Result<Writer<W>> {
        output.write_all(bytemuck::bytes_of(&Header::zeroed()))?;
        let lists = BufWriter::new(tempfile::tempfile_in(folder)?);
        let (records, held_out, fingerprint) = (0, 0, 0);
        let (choices, lists_digest) = (0, 0);
        Ok(Writer { output, split, records, held_out, fingerprint, lists, choices, lists_digest })
    }

    /// Adds a record with the moves played, in any order; of one alone the record says all.
    ///
    /// # Errors
    /// The system's; [`UserError`] for more moves than a file may have.
    pub fn record(&mut self, record: Record, played: &[PlayedOften]) -> Result<()> {
        let mut record = Record { first_choice: 0, choices: 1, ..record };
        if played.len() > 1 {
            record.first_choice = u32::try_from(self.choices).map_err(|_| too_many())?;
            record.choices = u8::try_from(played.len()).map_err(|_| too_many())?;
            self.lists.write_all(bytemuck::cast_slice(played))?;
            self.choices += played.len() as u64;
            self.lists_digest = digest(self.lists_digest, played);
        }
        self.output.write_all(bytemuck::bytes_of(&record))?;
        self.records += 1;
        self.held_out += u64::from(record.side() == Side::HeldOut);
        self.fingerprint = digest(self.fingerprint, &[record]);
        Ok(())
    }

    /// Writes the lists and the header.
    ///
    /// # Errors
    /// The system's; [`UserError`] for more records than a file may have.
    pub fn finish(mut self, games: u64) -> Result<()> {
        if self.records.max(self.choices) > u64::from(u32::MAX) {
            return Err(too_many().into());
        }
        self.lists.flush()?;
        let lists = self.lists.get_mut();
        lists.seek(SeekFrom::Start(0))?;
        io::copy(lists, &mut self.output)?;
        self.output.seek(SeekFrom::Start(0))?;
        let (share, from) = match self.split {
            Split::Share(share) => (share, 0),
            Split::From(date) => (self.held_out as f64 / self.records as f64, date.number()),
        };
        let header = Header {
            magic: MAGIC,
            version: VERSION,
            record_bytes: size_of::<Record>() as u32,
            records: self.records,
            choices: self.choices,
            games,
            fingerprint: fnv::step(self.fingerprint, self.lists_digest),
            share,
            from,
            reserved: 0,
        };
        Ok(self.output.write_all(bytemuck::bytes_of(&header))?)
    }
}

fn too_many() -> UserError {
    let what = "more records than a file can hold";
    UserError::new(what, "the output", "pack the games in parts, with --shard")
}

/// The digest of some items (0 is that of none) and of those that follow them: FNV-1a by words.
/// Results and clocks count too, not only the moves. Items are whole words.
pub(super) fn digest<T: Pod>(before: u64, items: &[T]) -> u64 {
    bytemuck::cast_slice::<T, u8>(items).chunks_exact(8).fold(before, |digest, word| {
        let word = word.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
        fnv::step(digest, word)
    })
}

/// A memory-mapped file of records; derefs to them.
#[derive(Debug)]
pub struct RecordFile {
    map: Mmap,
    header: Header,
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
            None => Ok(RecordFile { map, header }),
        }
    }

    /// Whether `path` starts as a file of records does, whole or not. A pipe is none: what is
    /// read of it to find out would be lost.
    pub fn recognises(path: &Path) -> bool {
        use std::io::Read as _;
        if !path.is_file() {
            return false;
        }
        let mut start = [0; MAGIC.len()];
        File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == MAGIC
    }

    /// Digest of the content: two files of the same games with the same split have the same.
    pub fn fingerprint(&self) -> u64 {
        self.header.fingerprint
    }

    /// Games that the records come from.
    pub fn games(&self) -> u64 {
        self.header.games
    }

    /// The share that is held out: of the games where they are split by hash, else of the records.
    pub fn held_out_share(&self) -> f64 {
        self.header.share
    }

    /// How the games are split.
    pub fn split(&self) -> Split {
        match Date::from_number(self.header.from) {
            Some(date) => Split::From(date),
            None => Split::Share(self.header.share),
        }
    }

    /// The different moves played in a record's position, if they are more than one.
    pub fn played(&self, record: &Record) -> &[PlayedOften] {
        let lists = HEADER_BYTES + self.header.records as usize * size_of::<Record>();
        let lists: &[PlayedOften] = bytemuck::cast_slice(&self.map[lists..]);
        let first = record.first_choice as usize;
        let number = usize::from(record.choices);
        if number < 2 { &[] } else { lists.get(first..first + number).unwrap_or_default() }
    }
}

impl Deref for RecordFile {
    type Target = [Record];

    fn deref(&self) -> &[Record] {
        // The map starts on a page, the header is a multiple of the record's alignment, and
        // `open` has checked the length: the cast cannot fail.
        let bytes = self.header.records as usize * size_of::<Record>();
        bytemuck::cast_slice(&self.map[HEADER_BYTES..HEADER_BYTES + bytes])
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
    use crate::{files::atomic_write, records::Played};

    fn write(path: &Path) -> Vec<Record> {
        let position = Chess::default();
        let records: Vec<Record> = position
            .legal_moves()
            .iter()
            .map(|&mv| Record::new(&position, mv, 0).on(Side::Training))
            .collect();
        atomic_write(path, |file| {
            let mut writer = Writer::new(file, path.parent().unwrap(), Split::Share(0.0))?;
            for record in &records {
                let often = |count| PlayedOften { played: record.played, reserved: 0, count };
                let several = record.played == records[3].played;
                let lists = [often(2), often(1)];
                writer.record(*record, if several { &lists } else { &[] })?;
            }
            writer.finish(7)
        })
        .unwrap();
        records
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records");
        let records = write(&path);
        let file = RecordFile::open(&path).unwrap();
        assert_eq!(file.len(), 20);
        let played = |record: &Record| record.played;
        assert!(file.iter().map(played).eq(records.iter().map(played)));
        assert!(RecordFile::recognises(&path));
        assert_eq!((file.games(), file.split()), (7, Split::Share(0.0)));
        let lists: Vec<usize> = file.iter().map(|record| file.played(record).len()).collect();
        assert_eq!(lists, (0..20).map(|i| if i == 3 { 2 } else { 0 }).collect::<Vec<_>>());
        let counts = file.played(&file[3]).iter().map(|often| (often.played, often.count));
        let expected: [(Played, u32); 2] = [(file[3].played, 2), (file[3].played, 1)];
        assert!(counts.eq(expected));
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
        let bytes = 64 + 20 * 64 + 2 * 8;
        assert_eq!(
            refused(&whole[..whole.len() - 1]),
            format!(
                "{} bytes where the header promises {bytes}, R: make it again with kibitzer pack",
                bytes - 1
            )
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
