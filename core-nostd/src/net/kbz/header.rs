//! The file's frame: prefix, postcard header, checksum.
use core::ops::Range;

use serde::{Deserialize, Serialize};

use super::{
    ALIGNMENT, Bytes, InputBits, MAGIC, ModelError, Precision, VERSION, WeightBits, fields::Fields,
};
use crate::{
    crc::Crc32,
    inputs::Perspective,
    net::{Config, PolicyHead, infer::Faults},
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
    pub(super) fn decode(bytes: &[u8]) -> Option<(Header, &[u8])> {
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
        Some((header, fields.rest()?))
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
    pub(super) fn decode(bytes: &mut &[u8]) -> Option<Entry> {
        let mut fields = Fields::new(bytes);
        let entry = Entry { offset: fields.u32(), length: fields.u32() };
        *bytes = fields.rest()?;
        Some(entry)
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
    pub fn read(file: Bytes<'_>, buffer: &mut [u8], faults: &Faults) -> Option<Frame> {
        let actual = file.len();
        let [magic, version, stated, header_length] = prefix(file, faults)?;
        if magic.to_le_bytes() != MAGIC {
            return faults.refuse(ModelError::Magic(magic.to_le_bytes()));
        }
        let (version, zero) = (version as u16, version >> 16);
        if version != VERSION {
            return faults.refuse(ModelError::Version(version));
        }
        let stated = stated as usize;
        if stated != actual {
            return faults.refuse(ModelError::Length { stated, actual });
        }
        let Some(end) = actual.checked_sub(CHECKSUM).filter(|&end| end >= PREFIX) else {
            return faults.refuse(ModelError::Truncated { needed: PREFIX + CHECKSUM, actual });
        };
        let mut stored = [0; CHECKSUM];
        let stored = file.read(end..actual, &mut stored, Some(faults))?.first_chunk();
        let stored = u32::from_le_bytes(*stored?);
        let computed = file.part(0..end)?.checksum(buffer, faults)?;
        if stored != computed {
            return faults.refuse(ModelError::Checksum { stored, computed });
        }
        if zero != 0 {
            return None;
        }
        let header_end = PREFIX.saturating_add(header_length as usize);
        let sections = header_end.checked_next_multiple_of(ALIGNMENT).unwrap_or(usize::MAX);
        if sections > end {
            let needed = header_end.saturating_add(CHECKSUM);
            return faults.refuse(ModelError::Truncated { needed, actual });
        }
        Some(Frame { header: PREFIX..header_end, sections: sections..end })
    }
}

/// The words before the header: magic; version, and a zero above it; the file's length; the header's.
pub(super) fn prefix(file: Bytes<'_>, faults: &Faults) -> Option<[u32; PREFIX / 4]> {
    if file.len() < PREFIX {
        let needed = PREFIX + CHECKSUM;
        return faults.refuse(ModelError::Truncated { needed, actual: file.len() });
    }
    let mut buffer = [0; PREFIX];
    let bytes = file.read(0..PREFIX, &mut buffer, Some(faults))?;
    Some(bytes.as_chunks().0.first_chunk()?.map(u32::from_le_bytes))
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
                    assert_eq!(Header::decode(&bytes[..end]), None);
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
            prop_assert_eq!(Header::decode(&bytes), by_postcard(&bytes));
            let entry = |bytes| postcard::take_from_bytes::<Entry>(bytes).ok();
            let mut rest = &bytes[at..];
            let read = Entry::decode(&mut rest).map(|entry| (entry, rest));
            prop_assert_eq!(read, entry(&bytes[at..]));
        }
    }
}
