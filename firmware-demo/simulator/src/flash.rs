//! A flash chip at the other end of a serial line, and the switch that cuts its power in the midst
//! of a byte.
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context as _, Result};

/// Its bytes.
const BYTES: usize = 32 * 1024;

/// A flash chip. Its contents outlive the board.
#[derive(Debug, Clone)]
pub struct Flash {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    bytes: Vec<u8>,
    /// Bytes that may still be written or erased before the power goes.
    left: Option<usize>,
    /// Bytes written and erased so far.
    worn: usize,
}

impl Default for Flash {
    fn default() -> Self {
        Self::new()
    }
}

impl Flash {
    /// Erased, as it comes from its maker.
    pub fn new() -> Self {
        let state = State { bytes: vec![0xff; BYTES], left: None, worn: 0 };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// The power goes after so many more bytes are written or erased; never for `None`.
    pub fn cut_after(&self, bytes: Option<usize>) {
        self.lock().left = bytes;
    }

    /// Bytes written and erased so far.
    pub fn worn(&self) -> usize {
        self.lock().worn
    }

    /// Answers a board at this line until the board or the power goes; `dies` is then called.
    ///
    /// # Errors
    /// The line cannot be opened.
    pub fn serve(&self, line: &Path, dies: impl FnOnce() + Send + 'static) -> Result<()> {
        let flash = self.clone();
        let open = || OpenOptions::new().read(true).write(true).open(line);
        let (reader, mut writer) = (open()?, open()?);
        thread::spawn(move || {
            let mut lines = BufReader::new(reader).lines();
            while let Some(Ok(line)) = lines.next() {
                // A line that is cut off says that the board has gone.
                if flash.obey(&line, &mut writer).is_err() {
                    break;
                }
            }
            dies();
        });
        Ok(())
    }

    fn obey(&self, line: &str, out: &mut File) -> Result<()> {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |word: &str| usize::from_str_radix(word, 16);
        match words[..] {
            ["?"] => {}
            ["r", from, count] => {
                let (from, count) = (number(from)?, number(count)?);
                let state = self.lock();
                let bytes = state.bytes.get(from..from + count).context("beyond its end")?;
                let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                return Ok(writeln!(out, "{text}")?);
            }
            ["e", from, to] => {
                for place in number(from)?..number(to)? {
                    self.change(place, 0xff, true)?;
                }
            }
            ["w", from, text] => {
                let from = number(from)?;
                for (place, pair) in (from..).zip(text.as_bytes().chunks(2)) {
                    let byte = u8::from_str_radix(std::str::from_utf8(pair)?, 16)?;
                    self.change(place, byte, false)?;
                }
            }
            _ => anyhow::bail!("not a flash's command: {line}"),
        }
        Ok(writeln!(out, "k")?)
    }

    /// Erases a byte or clears those of its bits that `value` has clear; where the power goes, only
    /// some of them.
    fn change(&self, place: usize, value: u8, erases: bool) -> Result<()> {
        let mut state = self.lock();
        let goes = state.left == Some(0);
        state.left = state.left.and_then(|left| left.checked_sub(1));
        state.worn += 1;
        let byte = state.bytes.get_mut(place).context("beyond its end")?;
        let whole = if erases { 0xff } else { *byte & value };
        // Half of the byte has become what it should.
        *byte = if goes { whole & 0xf0 | *byte & 0x0f } else { whole };
        anyhow::ensure!(!goes, "the power goes");
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
