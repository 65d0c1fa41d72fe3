//! Model files filled with seeded pseudo-random integers. Frame, header and checksum are written by
//! hand, as `docs/kbz.md` has them; the list of sections and the hash are the core's, which
//! `second_reader.rs` holds to that page.
use kibitzer_core::{
    inputs::Perspective,
    net::{
        Config, InputBits, PolicyHead, Precision, WeightBits, hash,
        kbz::{Element, Matrix, Part, Section, sections},
    },
};

use crate::random::Random;

/// The shift of a scale, as trained networks have it: how it is rescaled decides what a board's
/// inference costs.
const fn shift(part: Part) -> i64 {
    match part {
        Part::AttentionBiasScale => 21,
        Part::HiddenShift => 20,
        Part::Scales(Matrix::Up) => 29,
        Part::ContextScale => 45,
        _ => 33,
    }
}

/// A section's bytes: plausible integers, or with `wild` any that parse.
fn fill(section: &Section, wild: bool, random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for i in 0..section.count {
        let r = random.next();
        let is_scale =
            section.element == Element::I32 && !matches!(section.part, Part::Bias(_) | Part::Skip);
        let word: i64 = match (section.part, is_scale && i == 0, wild) {
            (Part::NormScale, true, false) => 3,
            (Part::NormScale, true, true) => (r % 125) as i64 - 62,
            (part, true, false) => shift(part),
            (_, true, true) => (r % 62) as i64 + 1,
            (_, false, true) if r.is_multiple_of(4) => [i64::MIN, i64::MAX][(r >> 8) as usize % 2],
            (_, false, true) => r as i64,
            (_, false, false) if is_scale => (r % (1 << 30)) as i64,
            (Part::Bias(_) | Part::Skip, ..) => (r % 10_000) as i64 - 5000,
            (_, false, false) => (r % 2000) as i64 - 1000,
        };
        match section.element {
            Element::I8 => bytes.push(if wild { word as i8 } else { (r % 255) as i8 } as u8),
            Element::I16 => {
                let half = word.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
                bytes.extend(if wild { word as i16 ^ half } else { half }.to_le_bytes());
            }
            Element::I32 => {
                let full = word.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
                bytes.extend(full.to_le_bytes());
            }
        }
    }
    bytes
}

/// CRC-32 bit by bit, as the format's description has it.
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

/// Replaces the checksum by the one that fits.
pub fn mend(file: &mut [u8]) {
    let end = file.len() - 4;
    let crc = crc32(&file[..end]);
    file[end..].copy_from_slice(&crc.to_le_bytes());
}

/// The unsigned variable-length integers of postcard.
fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn header(
    c: &Config,
    stated_hash: u64,
    precision: Precision,
    offsets: &[(usize, usize)],
) -> Vec<u8> {
    let mut out = Vec::new();
    for value in [c.width, c.heads, c.encoder_blocks, c.trunk.len() as u32] {
        varint(value.into(), &mut out);
    }
    out.extend(c.trunk.bytes());
    let state_space = [c.ssm_expand, c.ssm_state, c.ssm_rank, c.ssm_conv, c.ssm_ffn_mult];
    for value in [c.ffn_mult].into_iter().chain(state_space) {
        varint(value.into(), &mut out);
    }
    out.push((c.perspective == Perspective::Mover).into());
    out.push((c.policy_head == PolicyHead::FromTo).into());
    varint(c.policy_dim.into(), &mut out);
    out.push(c.attention_bias.into());
    varint(stated_hash, &mut out);
    out.push((precision.weights == WeightBits::Four).into());
    out.push(match precision.inputs {
        InputBits::Eight => 0,
        InputBits::Eleven => 1,
        InputBits::Mixed => 2,
    });
    varint(offsets.len() as u64, &mut out);
    for &(offset, length) in offsets {
        varint(offset as u64, &mut out);
        varint(length as u64, &mut out);
    }
    out
}

/// A whole file for `config` with this precision; `stated_hash` usually is its hash.
pub fn file_with(
    config: &Config,
    stated_hash: u64,
    precision: Precision,
    wild: bool,
    seed: u64,
) -> Vec<u8> {
    let mut random = Random(seed);
    let contents: Vec<_> =
        sections(config, precision.weights).map(|s| fill(&s, wild, &mut random)).collect();
    // The offsets' own varints move the sections: repeat until they agree.
    let mut start = 16;
    let head = loop {
        let mut at: usize = start;
        let offsets: Vec<_> = contents
            .iter()
            .map(|bytes| {
                let offset = at;
                at += bytes.len().next_multiple_of(16);
                (offset, bytes.len())
            })
            .collect();
        let head = header(config, stated_hash, precision, &offsets);
        let needed = (16 + head.len()).next_multiple_of(16);
        if needed == start {
            break head;
        }
        start = needed;
    };
    let mut file = b"KBZ\x1a\x03\x00\x00\x00\x00\x00\x00\x00".to_vec();
    file.extend((head.len() as u32).to_le_bytes());
    file.extend(head);
    file.resize(start, 0);
    for bytes in contents {
        file.extend(bytes);
        file.resize(file.len().next_multiple_of(16), 0);
    }
    let length = file.len() as u32 + 4;
    file[8..12].copy_from_slice(&length.to_le_bytes());
    file.extend([0; 4]);
    mend(&mut file);
    file
}

/// A whole file for `config`.
pub fn file(config: &Config, wild: bool, seed: u64) -> Vec<u8> {
    file_with(config, hash(config), Precision::default(), wild, seed)
}
