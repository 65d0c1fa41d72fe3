//! A chip's flash that loses power after so many bytes, and leaves behind what flash may then hold.
use std::{cell::Cell, ops::Range, rc::Rc};

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash, check_erase, check_read,
    check_write,
};

use crate::random::Random;

/// The power is gone, or the call was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    PowerLost,
    Refused(NorFlashErrorKind),
}

impl NorFlashError for Failure {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            Failure::PowerLost => NorFlashErrorKind::Other,
            Failure::Refused(kind) => *kind,
        }
    }
}

impl From<NorFlashErrorKind> for Failure {
    fn from(kind: NorFlashErrorKind) -> Self {
        Failure::Refused(kind)
    }
}

/// How long the power lasts: bytes that may yet be written or erased, and those that were.
#[derive(Debug, Clone, Default)]
pub struct Power {
    left: Rc<Cell<Option<u64>>>,
    spent: Rc<Cell<u64>>,
}

impl Power {
    /// It is lost after so many bytes, or never.
    pub fn set(&self, bytes: impl Into<Option<u64>>) {
        self.left.set(bytes.into());
    }

    /// Bytes written and erased so far.
    pub fn spent(&self) -> u64 {
        self.spent.get()
    }

    /// How many of `wanted` bytes it lasts for.
    fn burn(&self, wanted: usize) -> Result<usize, Failure> {
        let able = self.left.get().map_or(wanted, |left| wanted.min(left as usize));
        self.left.set(self.left.get().map(|left| left - able as u64));
        self.spent.set(self.spent.get() + able as u64);
        if able == 0 { Err(Failure::PowerLost) } else { Ok(able) }
    }
}

/// Flash that is written in words of `WORD` bytes and erased in parts of `PART`. Clones have one
/// power.
#[derive(Clone)]
pub struct Flash<const WORD: usize, const PART: usize> {
    pub bytes: Vec<u8>,
    /// Words written since they were erased; none may be again.
    written: Vec<bool>,
    /// How often each part was erased.
    pub erased: Vec<u32>,
    /// Bytes in which a bit sticks at 1.
    pub stuck: Range<usize>,
    pub power: Power,
    random: u64,
}

impl<const WORD: usize, const PART: usize> Flash<WORD, PART> {
    /// Erased flash of so many parts.
    pub fn new(parts: usize, seed: u64) -> Self {
        Self::holding(vec![0xff; parts * PART], seed)
    }

    /// Flash with these bytes.
    pub fn holding(bytes: Vec<u8>, seed: u64) -> Self {
        let written = bytes.chunks(WORD).map(|word| word.iter().any(|&b| b != 0xff)).collect();
        let erased = vec![0; bytes.len() / PART];
        Self { bytes, written, erased, stuck: 0..0, power: Power::default(), random: seed }
    }

    fn next(&mut self) -> u64 {
        let mut random = Random(self.random);
        let next = random.next();
        self.random = random.0;
        next
    }

    /// Writes a byte that the power is lost in: none of its bits has changed, or only some that
    /// should, or any.
    fn tear(&mut self, at: usize, byte: u8) {
        let noise = self.next() as u8;
        self.bytes[at] &= match self.next() % 3 {
            0 => 0xff,
            1 => byte | noise,
            _ => noise,
        };
    }

    /// Writes only some of the words, and none for sure.
    fn tear_words(&mut self, offset: usize, bytes: &[u8], whole: usize) {
        // Chips write one word after the other, or a row of them at once.
        let whole = if self.next().is_multiple_of(2) { whole / WORD * WORD } else { 0 };
        let end = if whole == 0 { bytes.len() } else { (whole + WORD).min(bytes.len()) };
        for (index, &byte) in bytes.iter().enumerate().take(end) {
            if index < whole {
                self.bytes[offset + index] = byte;
            } else {
                self.tear(offset + index, byte);
            }
        }
    }
}

impl<const WORD: usize, const PART: usize> ErrorType for Flash<WORD, PART> {
    type Error = Failure;
}

impl<const WORD: usize, const PART: usize> ReadNorFlash for Flash<WORD, PART> {
    const READ_SIZE: usize = if WORD < 4 { WORD } else { 4 };

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Failure> {
        check_read(self, offset, bytes.len())?;
        bytes.copy_from_slice(&self.bytes[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl<const WORD: usize, const PART: usize> NorFlash for Flash<WORD, PART> {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = PART;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Failure> {
        check_erase(self, from, to)?;
        let (from, to) = (from as usize, to as usize);
        let able = self.power.burn(to - from)?;
        for part in from / PART..to / PART {
            let range = part * PART..(part + 1) * PART;
            let able = (from + able).saturating_sub(range.start);
            if able < PART {
                // Some bits are erased already, in order or anywhere.
                for at in range {
                    let noise = self.next() as u8;
                    let in_order = self.next().is_multiple_of(2) && at % PART < able;
                    self.bytes[at] |= if in_order { 0xff } else { noise };
                }
                return Err(Failure::PowerLost);
            }
            self.erased[part] += 1;
            self.bytes[range.clone()].fill(0xff);
            self.written[range.start / WORD..range.end / WORD].fill(false);
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Failure> {
        check_write(self, offset, bytes.len())?;
        let offset = offset as usize;
        let able = self.power.burn(bytes.len())?;
        let words = offset / WORD..(offset + bytes.len()) / WORD;
        let is_blank = self.written[words.clone()].iter().all(|written| !written);
        assert!(is_blank, "a word at {offset} is written twice");
        if able < bytes.len() {
            self.tear_words(offset, bytes, able);
            // Nobody can tell a word that still reads blank from one that was never written.
            for word in words {
                let bytes = &self.bytes[word * WORD..(word + 1) * WORD];
                self.written[word] = bytes.iter().any(|&byte| byte != 0xff);
            }
            return Err(Failure::PowerLost);
        }
        self.written[words].fill(true);
        for (at, &byte) in (offset..).zip(bytes) {
            self.bytes[at] &= if self.stuck.contains(&at) { byte | 0x10 } else { byte };
        }
        Ok(())
    }
}
