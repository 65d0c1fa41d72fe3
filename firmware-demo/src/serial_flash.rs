//! Flash at the other end of a serial line, for emulated boards that have none: what a program
//! writes there outlives it.
//!
//! `r OFFSET COUNT` is answered by the bytes in hexadecimal; `w OFFSET HEX` and `e FROM TO` by `k`
//! when done, all numbers in hexadecimal, each line ending in a line feed. `?` is answered by `k` where
//! there is flash.
use core::fmt::Write as _;

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};

use crate::uart::{Receiver, Transmitter};

/// How often the line is asked for a byte before there is taken to be no flash: a second or so of
/// the machine that emulates the board.
const PATIENCE: u32 = 20_000_000;
/// Its bytes, and those that are erased or written at once.
const BYTES: usize = 32 * 1024;
const PAGE: usize = 4096;
const WORD: usize = 4;

/// The flash.
pub struct SerialFlash {
    input: Receiver,
    output: Transmitter,
}

impl SerialFlash {
    /// Where its bytes are.
    pub const RANGE: core::ops::Range<u32> = 0..BYTES as u32;

    /// The flash at the other end of the line, if there is any.
    pub fn find((input, output): (Receiver, Transmitter)) -> Option<Self> {
        let mut flash = Self { input, output };
        let _ = writeln!(flash.output, "?");
        flash.done().ok().map(|()| flash)
    }

    fn byte(&mut self) -> Result<u8, NorFlashErrorKind> {
        (0..PATIENCE).find_map(|_| self.input.poll()).ok_or(NorFlashErrorKind::Other)
    }

    fn done(&mut self) -> Result<(), NorFlashErrorKind> {
        let answer = [self.byte()?, self.byte()?];
        if answer == *b"k\n" { Ok(()) } else { Err(NorFlashErrorKind::Other) }
    }
}

impl ErrorType for SerialFlash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for SerialFlash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, bytes.len())?;
        let _ = writeln!(self.output, "r {offset:x} {:x}", bytes.len());
        let digit = |byte: u8| char::from(byte).to_digit(16).ok_or(NorFlashErrorKind::Other);
        for byte in bytes {
            let (high, low) = (digit(self.byte()?)?, digit(self.byte()?)?);
            *byte = (high * 16 + low) as u8;
        }
        self.byte().map(drop)
    }

    fn capacity(&self) -> usize {
        BYTES
    }
}

impl NorFlash for SerialFlash {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = PAGE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        check_erase(self, from, to)?;
        let _ = writeln!(self.output, "e {from:x} {to:x}");
        self.done()
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        check_write(self, offset, bytes.len())?;
        let _ = write!(self.output, "w {offset:x} ");
        for byte in bytes {
            let _ = write!(self.output, "{byte:02x}");
        }
        let _ = writeln!(self.output);
        self.done()
    }
}
