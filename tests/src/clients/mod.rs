//! Apps that talk to a chessboard, written from the protocols' descriptions alone
//! (`docs/protocols.md`): nothing of the board's side is used here but the rules of chess.
//!
//! A link is anything that reads and writes bytes: a pseudo-terminal, a socket, a board in the same
//! program.
pub mod cpp;
pub mod pegasus;

use std::{
    collections::VecDeque,
    io::{ErrorKind, Read, Write},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};

/// How long a link that has nothing to say is left alone before it is asked again.
const PAUSE: Duration = Duration::from_millis(1);

/// A link, and how long its other end may take.
#[derive(Debug)]
pub struct Line<L> {
    link: L,
    patience: Duration,
    came: VecDeque<u8>,
}

impl<L: Read + Write> Line<L> {
    /// A link whose other end answers within `patience`.
    pub fn new(link: L, patience: Duration) -> Self {
        Line { link, patience, came: VecDeque::new() }
    }

    /// Sends all of it.
    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.link.write_all(bytes).context("the link takes nothing")?;
        self.link.flush().context("the link takes nothing")
    }

    /// The next byte; `None` where none comes within the patience.
    pub fn byte(&mut self) -> Result<Option<u8>> {
        self.byte_within(self.patience)
    }

    /// Whether nothing comes for so long.
    pub fn is_quiet(&mut self, time: Duration) -> Result<bool> {
        let next = self.byte_within(time)?;
        if let Some(byte) = next {
            self.came.push_front(byte);
        }
        Ok(next.is_none())
    }

    fn byte_within(&mut self, time: Duration) -> Result<Option<u8>> {
        let end = Instant::now() + time;
        let mut buffer = [0; 256];
        while self.came.is_empty() {
            match self.link.read(&mut buffer) {
                Ok(0) => {}
                Ok(count) => self.came.extend(&buffer[..count]),
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                Err(error) => return Err(error).context("the link broke"),
            }
            if self.came.is_empty() {
                if Instant::now() >= end {
                    return Ok(None);
                }
                thread::sleep(PAUSE);
            }
        }
        Ok(self.came.pop_front())
    }
}
