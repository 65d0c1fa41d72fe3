//! The file's frame: prefix, postcard header, checksum.
use core::ops::Range;

use serde::{Deserialize, Serialize};

use super::{
    ALIGNMENT, Bytes, InputBits, MAGIC, ModelError, Precision, VERSION, WeightBits, fields::Fields,
};
use crate::{
    crc::Crc32,
    inputs::Perspective,
    net::{Config, PolicyHead},
};

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
        let mut fields = Fields::new(bytes);
        let header = Header {
            config: config(&mut fields),
            hash: fields.u64(),
            precision: Precision {
                weights: fields.variant([WeightBits::Eight, WeightBits::Four]),
                inputs: fields.variant([InputBits::Eight, InputBits::Eleven, InputBits::Mixed]),
            },
            sections: fields.u32(),
        };
        Ok((header, fields.rest()?))
    }
}

/// The configuration's fields, in its own order.
fn config(fields: &mut Fields<'_>) -> Config {
    Config {
        width: fields.u32(),
        heads: fields.u32(),
        encoder_blocks: fields.u32(),
        trunk: fields.letters(),
        ffn_mult: fields.u32(),
        ssm_expand: fields.u32(),
        ssm_state: fields.u32(),
        ssm_rank: fields.u32(),
        ssm_conv: fields.u32(),
        ssm_ffn_mult: fields.u32(),
        perspective: fields.variant([Perspective::Absolute, Perspective::Mover]),
        policy_head: fields.variant([PolicyHead::Pooled, PolicyHead::FromTo]),
        policy_dim: fields.u32(),
        attention_bias: fields.flag(),
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
        let mut fields = Fields::new(bytes);
        let entry = Entry { offset: fields.u32(), length: fields.u32() };
        *bytes = fields.rest()?;
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
        let [magic, version, stated, header_length] = prefix(file)?;
        if magic.to_le_bytes() != MAGIC {
            return Err(ModelError::Magic(magic.to_le_bytes()));
        }
        let (version, zero) = (version as u16, version >> 16);
        if version != VERSION {
            return Err(ModelError::Version(version));
        }
        let stated = u64::from(stated);
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
        if zero != 0 {
            return Err(ModelError::Header);
        }
        let needed = PREFIX as u64 + u64::from(header_length);
        let header_end = needed as usize;
        if needed > end as u64 || align(header_end) > end {
            return Err(truncated(needed + CHECKSUM as u64));
        }
        Ok(Frame { header: PREFIX..header_end, sections: align(header_end)..end })
    }
}

/// The words before the header: magic; version, and a zero above it; the file's length; the header's.
pub(super) fn prefix(file: Bytes<'_>) -> Result<[u32; PREFIX / 4], ModelError> {
    let (needed, actual) = ((PREFIX + CHECKSUM) as u64, file.len() as u64);
    let truncated = ModelError::Truncated { needed, actual };
    if file.len() < PREFIX {
        return Err(truncated);
    }
    let mut buffer = [0; PREFIX];
    let words = file.get(0..PREFIX, &mut buffer)?.as_chunks().0.first_chunk();
    Ok(words.ok_or(truncated)?.map(u32::from_le_bytes))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::net::PRESETS;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// What serde and postcard read.
    fn by_postcard(bytes: &[u8]) -> Option<(Header, &[u8])> {
        let (header, rest) = postcard::take_from_bytes::<Header>(bytes).ok()?;
        header.config.trunk.is_ascii().then_some((header, rest))
    }

    fn encoded(config: Config, hash: u64, inputs: InputBits, sections: u32) -> Vec<u8> {
        let precision = Precision { weights: WeightBits::Four, inputs };
        let mut bytes = [0; 256];
        let header = Header { config, hash, precision, sections };
        postcard::to_slice(&header, &mut bytes).expect("room").to_vec()
    }

    #[test]
    fn headers_are_read_as_postcard_writes_them() {
        for preset in PRESETS {
            for inputs in [InputBits::Eight, InputBits::Eleven, InputBits::Mixed] {
                let bytes = encoded(preset.config(), u64::MAX, inputs, u32::MAX);
                let read = Header::decode(&bytes).expect("whole");
                assert_eq!(Some(read), by_postcard(&bytes));
                for end in 0..bytes.len() {
                    assert_eq!(Header::decode(&bytes[..end]), Err(ModelError::Header));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused_as_by_postcard(
            at in 0..32usize,
            put in prop::collection::vec(any::<u8>(), 0..12),
            hash in any::<u64>(),
        ) {
            let mut bytes = encoded(PRESETS[0].config(), hash, InputBits::Mixed, 1 << 20);
            bytes.splice(at..at.min(bytes.len()), put);
            prop_assert_eq!(Header::decode(&bytes).ok(), by_postcard(&bytes));
            let entry = |bytes| postcard::take_from_bytes::<Entry>(bytes).ok();
            let mut rest = &bytes[at..];
            let read = Entry::decode(&mut rest).ok().map(|entry| (entry, rest));
            prop_assert_eq!(read, entry(&bytes[at..]));
        }
    }
}
