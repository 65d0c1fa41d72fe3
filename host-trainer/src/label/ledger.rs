//! The file of labels while it grows, and what is needed to go on after a kill.
//!
//! Lines are appended whole, each with the number of its position, in the order in which they
//! come; a kill can only leave the last one unfinished, which is cut off at the next start. Beside
//! the file, `NAME.run` holds the settings in its first line, and a line for each position that
//! was given up. Once all are there, the lines are put in the numbers' order.
use std::{
    collections::HashSet,
    fs::{File, OpenOptions, TryLockError},
    io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::Result;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{error::UserError, files, library::Entry};

/// What is written is synced at least so often.
const SYNC: Duration = Duration::from_secs(2);

/// The labels of a piece of work.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    file: File,
    run: File,
    /// Number, start and length of each line, in the file's order.
    lines: Vec<(u64, u64, u64)>,
    end: u64,
    /// Numbers that need no more work.
    settled: HashSet<u64>,
    skipped: u64,
    synced: Instant,
}

/// What is read of a line to find out which it is.
#[derive(Deserialize)]
struct Numbered {
    number: u64,
}

impl Ledger {
    /// Starts the file at `path`, or goes on with it. Nobody else can meanwhile.
    ///
    /// # Errors
    /// [`UserError`] if it cannot be written, holds something else, was made with other settings,
    /// or another process works on it.
    pub fn open(path: &Path, settings: &Value) -> Result<Ledger> {
        let refuse = |error: std::io::Error| UserError::cannot_write(path, &error);
        let mut run = open(&beside(path)).map_err(refuse)?;
        if let Err(TryLockError::WouldBlock) = run.try_lock() {
            let mend = "wait for it, or choose another file";
            let what = "another process is labelling there";
            return Err(UserError::new(what, path.display(), mend).into());
        }
        let skipped = begin(&mut run, path, settings)?;
        let file = open(path).map_err(refuse)?;
        let mut ledger = Ledger {
            path: path.to_owned(),
            file,
            run,
            lines: vec![],
            end: 0,
            skipped: skipped.len() as u64,
            settled: skipped,
            synced: Instant::now(),
        };
        ledger.read()?;
        Ok(ledger)
    }

    /// Finds the lines that are there, and cuts off what is unfinished.
    fn read(&mut self) -> Result<()> {
        let mut reader = BufReader::new(&self.file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line)? as u64;
            if line.last() != Some(&b'\n') {
                break;
            }
            let Ok(Numbered { number }) = serde_json::from_slice(&line) else {
                let place = format!("{} line {}", self.path.display(), self.lines.len() + 1);
                let mend = "choose another file, or delete the line";
                return Err(UserError::new("not a line of this work", place, mend).into());
            };
            if !self.settled.insert(number) {
                let place = format!("{} line {}", self.path.display(), self.lines.len() + 1);
                let what = format!("position {number} is there twice, or was given up");
                return Err(UserError::new(what, place, "delete the line").into());
            }
            self.lines.push((number, self.end, length));
            self.end += length;
        }
        drop(reader);
        self.file.set_len(self.end)?;
        self.file.seek(SeekFrom::Start(self.end))?;
        Ok(())
    }

    /// Whether position `number` needs no more work.
    pub fn is_settled(&self, number: u64) -> bool {
        self.settled.contains(&number)
    }

    /// Lines written.
    pub fn written(&self) -> u64 {
        self.lines.len() as u64
    }

    /// Positions given up.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Appends a line.
    ///
    /// # Errors
    /// [`UserError`] if it cannot be written.
    pub fn write(&mut self, number: u64, entry: &Entry) -> Result<()> {
        debug_assert_eq!(entry.number, Some(number));
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        if self.settled.insert(number) {
            let written = self.file.write_all(&line);
            written.map_err(|error| UserError::cannot_write(&self.path, &error))?;
            self.lines.push((number, self.end, line.len() as u64));
            self.end += line.len() as u64;
        }
        self.sync(SYNC)
    }

    /// Notes that position `number` is given up, and why.
    ///
    /// # Errors
    /// [`UserError`] if it cannot be written.
    pub fn skip(&mut self, number: u64, why: &str) -> Result<()> {
        if self.settled.insert(number) {
            self.skipped += 1;
            let line = format!("{}\n", json!({"skipped": number, "why": why}));
            let written = self.run.write_all(line.as_bytes());
            written.map_err(|error| UserError::cannot_write(&beside(&self.path), &error))?;
        }
        self.sync(SYNC)
    }

    fn sync(&mut self, age: Duration) -> Result<()> {
        if self.synced.elapsed() >= age {
            let synced = self.file.sync_data().and_then(|()| self.run.sync_data());
            synced.map_err(|error| UserError::cannot_write(&self.path, &error))?;
            self.synced = Instant::now();
        }
        Ok(())
    }

    /// Makes sure that everything is on the disk; if the work is `complete`, puts the lines in
    /// the numbers' order.
    ///
    /// # Errors
    /// [`UserError`] if it cannot be written.
    pub fn finish(mut self, complete: bool) -> Result<()> {
        self.sync(Duration::ZERO)?;
        if !complete || self.lines.is_sorted() {
            return Ok(());
        }
        self.lines.sort_unstable();
        let (lines, mut file) = (&self.lines, &self.file);
        files::atomic_write(&self.path, |output| {
            let mut line = Vec::new();
            for &(_, start, length) in lines {
                line.resize(length as usize, 0);
                file.seek(SeekFrom::Start(start))?;
                file.read_exact(&mut line)?;
                output.write_all(&line)?;
            }
            Ok(())
        })
    }
}

/// The name of the file with settings and notes.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".run");
    name.into()
}

fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

/// Compares the settings with those in `run`, or writes them there if the file is new; returns
/// the numbers of the positions given up.
fn begin(run: &mut File, path: &Path, settings: &Value) -> Result<HashSet<u64>> {
    let mut text = String::new();
    run.read_to_string(&mut text).map_err(|error| UserError::cannot_read(path, &error))?;
    // A line that a kill left unfinished is as if it had not been written.
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    run.set_len(whole as u64)?;
    run.seek(SeekFrom::Start(whole as u64))?;
    let mut lines = text[..whole].lines().map(serde_json::from_str::<Value>);
    let there = match lines.next() {
        None if path.metadata().is_ok_and(|file| file.len() > 0) => {
            let what = "a file is there that is not known to be of this work";
            let mend = "choose another file, or restore the one beside it that ends in .run";
            return Err(UserError::new(what, path.display(), mend).into());
        }
        None => {
            run.write_all(format!("{settings}\n").as_bytes())?;
            run.sync_all()?;
            return Ok(HashSet::new());
        }
        Some(there) => there.unwrap_or_default(),
    };
    for (name, here) in settings.as_object().into_iter().flatten() {
        let before = &there[name];
        if before != here {
            let what = format!("{name} is {here} where the file was begun with {before}");
            let mend = "give the same again, or choose another file";
            return Err(UserError::new(what, path.display(), mend).into());
        }
    }
    Ok(lines.filter_map(|line| line.ok()?["skipped"].as_u64()).collect())
}
