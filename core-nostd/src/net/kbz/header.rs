//! The file's frame: prefix, postcard header, checksum.
use core::ops::Range;

use serde::{Deserialize, Serialize};

use super::{ALIGNMENT, Bytes, MAGIC, ModelError, Precision, VERSION};
use crate::{crc::Crc32, net::Config};

/// Bytes before the header: magic, version, zero, length of the file, length of the header.
pub const PREFIX: usize = 16;
/// Bytes of the checksum after everything else.
pub(super) const CHECKSUM: usize = 4;

/// The header, encoded by postcard; an [`Entry`] for each section follows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The network's configuration.
    pub config: Config,
    /// [`hash`](crate::net::hash) of the architecture.
    pub hash: u64,
    /// With how many bits the matrices work.
    pub precision: Precision,
    /// Number of sections.
    pub sections: u32,
}

impl Header {
    /// Decodes the header; the entries remain.
    pub(super) fn decode(bytes: &[u8]) -> Result<(Header, &[u8]), ModelError> {
        postcard::take_from_bytes(bytes).map_err(|_| ModelError::Header)
    }
}

/// Where a section lies, encoded by postcard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its first byte in the file, a multiple of [`ALIGNMENT`].
    pub offset: u32,
    /// Its bytes, without padding.
    pub length: u32,
}

impl Entry {
    /// Decodes one entry and moves on.
    pub(super) fn decode(bytes: &mut &[u8]) -> Result<Entry, ModelError> {
        let (entry, rest) = postcard::take_from_bytes(bytes).map_err(|_| ModelError::Header)?;
        *bytes = rest;
        Ok(entry)
    }
}

/// `length` rounded up to the alignment of sections.
pub const fn align(length: usize) -> usize {
    length.next_multiple_of(ALIGNMENT)
}

/// CRC-32 (ISO-HDLC, as in zip and PNG), which ends the file and covers all bytes before it.
pub fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = Crc32::NOTHING;
    sum.update(bytes);
    sum.sum()
}

/// The file's parts, once its frame is known to be whole.
pub(super) struct Frame {
    pub header: Range<usize>,
    pub sections: Range<usize>,
}

impl Frame {
    /// Checks magic, version, length and checksum of `file`. What does not lie in memory is read
    /// through `buffer`.
    pub fn read(file: Bytes<'_>, buffer: &mut [u8]) -> Result<Frame, ModelError> {
        let actual = file.len() as u64;
        let truncated = |needed: u64| ModelError::Truncated { needed, actual };
        let [m0, m1, m2, m3, v0, v1, z0, z1, l0, l1, l2, l3, h0, h1, h2, h3] = prefix(file)?;
        let magic = [m0, m1, m2, m3];
        if magic != MAGIC {
            return Err(ModelError::Magic(magic));
        }
        let version = u16::from_le_bytes([v0, v1]);
        if version != VERSION {
            return Err(ModelError::Version(version));
        }
        let stated = u64::from(u32::from_le_bytes([l0, l1, l2, l3]));
        if stated != actual {
            return Err(ModelError::Length { stated, actual });
        }
        let end = file.len().checked_sub(CHECKSUM);
        let end = end.ok_or(truncated((PREFIX + CHECKSUM) as u64))?;
        let body = file.part(0..end).ok_or(ModelError::Header)?;
        let mut stored = [0; CHECKSUM];
        let stored = match file.get(end..file.len(), &mut stored)? {
            &[a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
            _ => return Err(ModelError::Header),
        };
        let computed = body.checksum(buffer)?;
        if stored != computed {
            return Err(ModelError::Checksum { stored, computed });
        }
        if [z0, z1] != [0, 0] {
            return Err(ModelError::Header);
        }
        let header_length = u64::from(u32::from_le_bytes([h0, h1, h2, h3]));
        let needed = PREFIX as u64 + header_length;
        let header_end = needed as usize;
        if needed > end as u64 || align(header_end) > end {
            return Err(truncated(needed + CHECKSUM as u64));
        }
        Ok(Frame { header: PREFIX..header_end, sections: align(header_end)..end })
    }
}

/// The bytes before the header.
pub(super) fn prefix(file: Bytes<'_>) -> Result<[u8; PREFIX], ModelError> {
    let (needed, actual) = ((PREFIX + CHECKSUM) as u64, file.len() as u64);
    let truncated = ModelError::Truncated { needed, actual };
    if file.len() < PREFIX {
        return Err(truncated);
    }
    let mut buffer = [0; PREFIX];
    file.get(0..PREFIX, &mut buffer)?.first_chunk().copied().ok_or(truncated)
}
