//! A serial line that never waits: bytes that came are kept in a ring, bytes that go leave as far as
//! the line takes them.
//!
//! A byte that was lost or broken on the line is counted, and reading goes on with the next: what it
//! was part of, the protocol above drops.
use embedded_hal_nb::{
    nb,
    serial::{Error as _, ErrorKind, Read, Write},
};
use heapless::Deque;

use crate::protocol::Outbox;

/// Errors in one call after which the line is taken for broken.
const MOST_ERRORS: u32 = 16;

/// What went wrong on the line so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Faults {
    /// Bytes came faster than they were read.
    pub overruns: u32,
    /// Bytes came broken: noise, parity, frame.
    pub broken: u32,
}

/// The line, with room for `N` bytes that came.
#[derive(Debug)]
pub struct Uart<U, const N: usize> {
    line: U,
    ring: Deque<u8, N>,
    faults: Faults,
}

impl<U, const N: usize> Uart<U, N> {
    /// A line with nothing on it.
    pub const fn new(line: U) -> Self {
        Uart { line, ring: Deque::new(), faults: Faults { overruns: 0, broken: 0 } }
    }

    /// The line, given back.
    pub fn release(self) -> U {
        self.line
    }

    /// The next byte that came, taken out.
    pub fn take(&mut self) -> Option<u8> {
        self.ring.pop_front()
    }

    /// What went wrong so far.
    pub fn faults(&self) -> Faults {
        self.faults
    }
}

impl<U: Read, const N: usize> Uart<U, N> {
    /// Reads what came, as far as there is room, and returns how many bytes wait. What does not fit is
    /// left to the line.
    ///
    /// # Errors
    /// One that is no loss of a byte, or the last of many in a row.
    pub fn poll(&mut self) -> Result<usize, U::Error> {
        let mut errors = 0;
        while !self.ring.is_full() {
            match self.line.read() {
                Ok(byte) => {
                    let _ = self.ring.push_back(byte);
                }
                Err(nb::Error::WouldBlock) => break,
                Err(nb::Error::Other(error)) => {
                    self.faults.count(error.kind());
                    errors += 1;
                    if error.kind() == ErrorKind::Other || errors == MOST_ERRORS {
                        return Err(error);
                    }
                }
            }
        }
        Ok(self.ring.len())
    }
}

impl<U: Write, const N: usize> Uart<U, N> {
    /// Sends from `outbox` as far as the line takes it, and returns whether all is sent.
    ///
    /// # Errors
    /// Those of the line; the byte stays in the outbox.
    pub fn send<const M: usize>(&mut self, outbox: &mut Outbox<M>) -> Result<bool, U::Error> {
        while let Some(byte) = outbox.next() {
            match self.line.write(byte) {
                Ok(()) => {
                    outbox.take();
                }
                Err(nb::Error::WouldBlock) => return Ok(false),
                Err(nb::Error::Other(error)) => return Err(error),
            }
        }
        Ok(true)
    }
}

impl Faults {
    fn count(&mut self, kind: ErrorKind) {
        let count = match kind {
            ErrorKind::Overrun => &mut self.overruns,
            _ => &mut self.broken,
        };
        *count = count.saturating_add(1);
    }
}
