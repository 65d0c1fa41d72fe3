//! Where the text comes from: a file or standard input, plain or compressed.
use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read},
    path::Path,
};

use anyhow::{Context as _, Result};

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
