//! Weights of 4 bits, and the bytes that they stand for.
//!
//! A pair of rows is its groups, then its blocks' scales. A group is a word: four lower nibbles
//! are the first row's, four upper ones the second's, each in the order of columns 0, 2, 1, 3. A
//! block of four groups has a byte: the lower nibble is the first row's scale, the upper one the
//! second's. A weight is `(nibble − 8) · scale`, within ±120.
use crate::net::infer::vectorized;

use super::layout::{BLOCK_GROUPS, GROUP, PAIR_GROUP};

/// The nibble of a weight that is zero.
const ZERO: u32 = 8;
const LOWER: u32 = 0x0f0f_0f0f;
const HIGHEST: u32 = 0x8080_8080;
const EACH: u32 = 0x0101_0101;

/// The weights, each a byte, of four nibbles in the lower halves of a word's bytes.
const fn expand_word(nibbles: u32, scale: u32) -> u32 {
    // At most 15 · 15, so that no byte carries into the next.
    let scaled = nibbles * scale;
    let zero = ZERO * scale * EACH;
    // Byte by byte, modulo 256: `zero` has no highest bit.
    ((scaled | HIGHEST) - zero) ^ (!scaled & HIGHEST)
}

/// Expands the pairs of rows whose groups lie from byte `start` of `bytes` on, in place: `groups`
/// words and the scales after them become `groups` groups of bytes at the beginning.
///
/// `start` is at least `4 · groups`, so that no nibble is overwritten before it is read.
pub fn expand_in_place(bytes: &mut [u8], start: usize, groups: usize) {
    for group in 0..groups {
        let at = start + group * GROUP;
        let nibbles = bytes.get(at..).and_then(|bytes| bytes.first_chunk()).copied();
        let scale = bytes.get(start + groups * GROUP + group / BLOCK_GROUPS).copied();
        let (Some(nibbles), Some(scale)) = (nibbles, scale) else { return };
        if let Some(out) = bytes.get_mut(group * PAIR_GROUP..).and_then(|b| b.first_chunk_mut()) {
            *out = expand_group(nibbles, scale);
        }
    }
}

vectorized! {
    /// Expands a pair of rows, as it lies in the file, into bytes.
    pub fn expand(pair: &[u8], out: &mut [u8]) {
        let out = out.as_chunks_mut::<PAIR_GROUP>().0;
        let Some((nibbles, scales)) = pair.split_at_checked(out.len() * GROUP) else { return };
        let blocks = out.chunks_mut(BLOCK_GROUPS).zip(nibbles.chunks(BLOCK_GROUPS * GROUP));
        for ((out, nibbles), &scale) in blocks.zip(scales) {
            for (out, nibbles) in out.iter_mut().zip(nibbles.as_chunks::<GROUP>().0) {
                *out = expand_group(*nibbles, scale);
            }
        }
    }
}

/// Both rows' weights of a group.
#[inline(always)] // a call would cost as much, where code is made small
fn expand_group(nibbles: [u8; GROUP], scale: u8) -> [u8; PAIR_GROUP] {
    let (nibbles, scale) = (u32::from_le_bytes(nibbles), u32::from(scale));
    let [a, b, c, d] = expand_word(nibbles & LOWER, scale & 15).to_le_bytes();
    let [e, f, g, h] = expand_word(nibbles >> 4 & LOWER, scale >> 4).to_le_bytes();
    [a, b, c, d, e, f, g, h]
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::{vec, vec::Vec};

    #[test]
    fn every_nibble_by_every_scale() {
        for low in 0..16u8 {
            for high in 0..16 {
                for scale in 0..=255u8 {
                    let word = expand_group([low | high << 4; 4], scale);
                    let weight = |nibble: u8, scale: u8| (nibble.cast_signed() - 8) * scale as i8;
                    let expected = [weight(low, scale & 15), weight(high, scale >> 4)];
                    assert_eq!(word.map(u8::cast_signed)[..4], [expected[0]; 4]);
                    assert_eq!(word.map(u8::cast_signed)[4..], [expected[1]; 4]);
                }
            }
        }
    }

    #[test]
    fn in_place_or_not_is_the_same() {
        for groups in 1..40usize {
            let scales = groups.div_ceil(BLOCK_GROUPS).next_multiple_of(GROUP);
            let pair: Vec<u8> =
                (0..groups * GROUP + scales).map(|i| (i * 73 % 251) as u8).collect();
            let mut out = vec![0; groups * PAIR_GROUP];
            expand(&pair, &mut out);
            let start = groups * GROUP;
            let mut bytes = vec![0; start];
            bytes.extend(&pair);
            expand_in_place(&mut bytes, start, groups);
            assert_eq!(bytes[..out.len()], out);
        }
    }
}
