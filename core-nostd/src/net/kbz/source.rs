//! Where a model's bytes come from: memory that is read in place, or a slower place that is read
//! in parts.
use core::{fmt, ops::Range};

use super::ModelError;
use crate::{crc::Crc32, net::infer::Faults};

/// A place that model bytes are read from in parts, such as a flash chip behind SPI.
///
/// Reading takes `&self`, because a network reads from several places of the file in turn; a
/// driver that wants `&mut` lies in a `RefCell`.
///
/// ```
/// use core::cell::RefCell;
/// use kibitzer_core::net::{ReadError, Source};
///
/// struct Chip; // with a driver's `read(&mut self, address, into)`
/// # impl Chip { fn read(&mut self, _: u32, _: &mut [u8]) -> Result<(), ()> { Ok(()) } }
///
/// struct Flash(RefCell<Chip>);
///
/// impl Source for Flash {
///     fn read(&self, offset: u32, into: &mut [u8]) -> Result<(), ReadError> {
///         let mut chip = self.0.try_borrow_mut().map_err(|_| ReadError)?;
///         chip.read(offset, into).map_err(|_| ReadError)
///     }
/// }
/// ```
pub trait Source {
    /// Fills `into` with the file's bytes from `offset` on.
    ///
    /// # Errors
    /// If the bytes cannot be had.
    fn read(&self, offset: u32, into: &mut [u8]) -> Result<(), ReadError>;
}

/// A [`Source`] did not give the bytes that it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ReadError;

/// Bytes in memory, or in a source.
#[derive(Clone, Copy)]
pub enum Bytes<'a> {
    /// They lie here.
    Here(&'a [u8]),
    /// They are `length` bytes from `start` on.
    There { source: &'a dyn Source, start: usize, length: usize },
}

impl Default for Bytes<'_> {
    fn default() -> Self {
        Bytes::Here(&[])
    }
}

impl fmt::Debug for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.are_here() { "in memory" } else { "in a source" };
        write!(f, "{} bytes {place}", self.len())
    }
}

impl<'a> Bytes<'a> {
    /// How many there are.
    pub const fn len(&self) -> usize {
        match self {
            Bytes::Here(bytes) => bytes.len(),
            Bytes::There { length, .. } => *length,
        }
    }

    /// Whether they lie in memory.
    pub const fn are_here(&self) -> bool {
        matches!(self, Bytes::Here(_))
    }

    /// Bytes of a buffer for `length` of them: none where they lie in memory.
    pub const fn buffer(&self, length: usize) -> usize {
        if self.are_here() { 0 } else { length }
    }

    /// A part of them; `None` past the end.
    pub fn part(&self, range: Range<usize>) -> Option<Bytes<'a>> {
        if range.start > range.end || range.end > self.len() {
            return None;
        }
        match *self {
            Bytes::Here(bytes) => bytes.get(range).map(Bytes::Here),
            Bytes::There { source, start, .. } => {
                Some(Bytes::There { source, start: start + range.start, length: range.len() })
            }
        }
    }

    /// Those of `range`: in place, or read into `buffer`, which has as many. A fault is noted in
    /// `faults`.
    pub fn read<'b>(
        &self,
        range: Range<usize>,
        buffer: &'b mut [u8],
        faults: Option<&Faults>,
    ) -> Option<&'b [u8]>
    where
        'a: 'b,
    {
        let (mut offset, length) = (range.start, range.len());
        match self.part(range) {
            Some(Bytes::Here(bytes)) => return Some(bytes),
            Some(Bytes::There { source, start, length }) => {
                offset = start;
                if let Some(buffer) = buffer.get_mut(..length)
                    && source.read(start as u32, buffer).is_ok()
                {
                    return Some(buffer);
                }
            }
            None => {}
        }
        faults?.refuse(ModelError::Read { offset, length })
    }

    /// CRC-32 of all of them, read through `buffer`.
    pub fn checksum(&self, buffer: &mut [u8], faults: &Faults) -> Option<u32> {
        let mut crc = Crc32::NOTHING;
        let step = if self.are_here() { self.len() } else { buffer.len() }.max(1);
        let mut start = 0;
        while start < self.len() {
            let end = self.len().min(start + step);
            crc.update(self.read(start..end, buffer, Some(faults))?);
            start = end;
        }
        Some(crc.sum())
    }
}
