//! Where the text comes from: a file or standard input, plain or compressed.
use std::{
    env,
    fs::File,
    io::{self, BufRead as _, BufReader, Read},
    ops::Deref,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use tempfile::TempDir;

use crate::error::UserError;

/// The first bytes of a frame of zstd.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Window of the archives that are read: some are made with `--long=31`.
const WINDOW_LOG: u32 = 31;
const BUFFER: usize = 1 << 18;

/// Opens the text at `path`, or standard input for `-`; whether it is compressed with zstd shows
/// in its first bytes, not in its name.
///
/// # Errors
/// [`UserError`] if it cannot be read.
pub fn open(path: &Path) -> Result<Box<dyn Read + Send>> {
    let raw: Box<dyn Read + Send> = if path == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).map_err(|error| UserError::cannot_read(path, &error))?)
    };
    let mut raw = BufReader::with_capacity(BUFFER, raw);
    let start = raw.fill_buf().map_err(|error| UserError::cannot_read(path, &error))?;
    if !start.starts_with(&ZSTD) {
        return Ok(Box::new(raw));
    }
    let mut decoder = zstd::Decoder::with_buffer(raw).context("starting zstd")?;
    decoder.window_log_max(WINDOW_LOG).context("starting zstd")?;
    Ok(Box::new(decoder))
}

/// A file that can be read more than once: derefs to its path.
#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    /// Holds the copy of what comes but once, until it is dropped.
    _folder: Option<TempDir>,
}

impl Deref for Spool {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

/// What comes at `path`, as a file that can be read more than once: standard input (`-`) and other
/// pipes are copied to the system's temporary folder, as they come.
///
/// # Errors
/// [`UserError`] if it cannot be read, or the copy cannot be written.
pub fn spool(path: &Path) -> Result<Spool> {
    let is_input = path == Path::new("-");
    if !is_input && (path.is_file() || path.is_dir() || !path.exists()) {
        return Ok(Spool { path: path.to_owned(), _folder: None });
    }
    let temporary = env::temp_dir();
    let refuse = |error: io::Error| UserError::cannot_write(&temporary, &error);
    let folder = tempfile::Builder::new().prefix("kibitzer-").tempdir().map_err(refuse)?;
    // Messages show it.
    let name = if is_input { Path::new("standard-input") } else { path };
    let copy = folder.path().join(name.file_name().unwrap_or_default());
    let mut source: Box<dyn Read> = if is_input {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(|error| UserError::cannot_read(path, &error))?)
    };
    let mut file = File::create_new(&copy).map_err(refuse)?;
    io::copy(&mut source, &mut file).map_err(refuse)?;
    Ok(Spool { path: copy, _folder: Some(folder) })
}
