//! The file's frame: prefix, postcard header, checksum.
use serde::{Deserialize, Serialize};

use super::{ALIGNMENT, MAGIC, ModelError, VERSION};
use crate::net::Config;

/// Bytes before the header: magic, version, zero, length of the file, length of the header.
pub const PREFIX: usize = 16;
const CHECKSUM: usize = 4;
const CRC: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);

/// The header, encoded by postcard; an [`Entry`] for each section follows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The network's configuration.
    pub config: Config,
    /// [`hash`](crate::net::hash) of the architecture.
    pub hash: u64,
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
    CRC.checksum(bytes)
}

/// The file's parts, once its frame is known to be whole.
pub(super) struct Prefix<'a> {
    pub header: &'a [u8],
    pub sections_offset: usize,
    pub sections: &'a [u8],
}

impl<'a> Prefix<'a> {
    /// Checks magic, version, length and checksum.
    pub fn read(bytes: &'a [u8]) -> Result<Prefix<'a>, ModelError> {
        let actual = bytes.len() as u64;
        let truncated = |needed: usize| ModelError::Truncated { needed: needed as u64, actual };
        let (prefix, _) =
            bytes.split_first_chunk::<PREFIX>().ok_or(truncated(PREFIX + CHECKSUM))?;
        let [m0, m1, m2, m3, v0, v1, z0, z1, l0, l1, l2, l3, h0, h1, h2, h3] = *prefix;
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
        let (body, stored) =
            bytes.split_last_chunk::<CHECKSUM>().ok_or(truncated(PREFIX + CHECKSUM))?;
        let (stored, computed) = (u32::from_le_bytes(*stored), checksum(body));
        if stored != computed {
            return Err(ModelError::Checksum { stored, computed });
        }
        let header_length = u64::from(u32::from_le_bytes([h0, h1, h2, h3]));
        let needed = PREFIX as u64 + header_length;
        let too_long = ModelError::Truncated { needed: needed + CHECKSUM as u64, actual };
        if [z0, z1] != [0, 0] {
            return Err(ModelError::Header);
        }
        if needed > body.len() as u64 {
            return Err(too_long);
        }
        let end = needed as usize;
        let sections_offset = align(end);
        let header = body.get(PREFIX..end).ok_or(too_long)?;
        let sections = body.get(sections_offset..).ok_or(too_long)?;
        Ok(Prefix { header, sections_offset, sections })
    }
}
