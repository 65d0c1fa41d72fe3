//! Activations as `armv6m.rs` has them, and their sums in plain Rust.
//!
//! One token's activations are words. A pair of tokens has one word a column: of narrow ones
//! `x + y·2^16` modulo 2^32, the sum of two signed numbers; of wide ones two halves side by side.
use super::{Tile, Width};
use crate::net::kbz::{GROUP, PAIR_GROUP, place};

pub fn set_single(words: &mut [u32], column: usize, value: i16) {
    if let Some(word) = words.get_mut(column) {
        *word = i32::from(value).cast_unsigned();
    }
}

pub fn set_paired(
    words: &mut [u32],
    width: Width,
    groups: usize,
    token: usize,
    column: usize,
    value: i16,
) {
    if let Some(word) = words.get_mut(token / 2 * groups * GROUP + column) {
        let mut pair = unpack(*word, width);
        pair[token % 2] = value;
        *word = pack(pair, width);
    }
}

/// Sets a column of pairs of tokens.
pub fn set_pairs(
    words: &mut [u32],
    width: Width,
    groups: usize,
    column: usize,
    pairs: impl Iterator<Item = [i16; 2]>,
) {
    let places = words.iter_mut().skip(column).step_by((groups * GROUP).max(1));
    places.zip(pairs).for_each(|(place, pair)| *place = pack(pair, width));
}

/// A word of a pair of tokens.
fn pack([first, second]: [i16; 2], width: Width) -> u32 {
    let first = match width {
        Width::Narrow => i32::from(first),
        Width::Wide | Width::Single => i32::from(first.cast_unsigned()),
    };
    first.wrapping_add(i32::from(second) << 16).cast_unsigned()
}

fn unpack(word: u32, width: Width) -> [i16; 2] {
    let first = word as i16;
    let lower = match width {
        Width::Narrow => i32::from(first),
        Width::Wide | Width::Single => 0,
    };
    [first, (word.cast_signed().wrapping_sub(lower) >> 16) as i16]
}

/// The sums of pairs of rows for one token, where the weights are not aligned to words: kept apart,
/// so that the usual case has the registers to itself.
#[cold]
#[inline(never)]
pub fn single_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    let pairs = weights.chunks_exact((tile.groups() * PAIR_GROUP).max(1));
    for (weights, sums) in pairs.zip(sums.chunks_exact_mut(2)) {
        pair_sums(weights, tile, sums);
    }
}

/// The sums of a pair of rows for any number of tokens, byte by byte.
#[cold]
#[inline(never)]
pub fn pair_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    let (columns, tokens) = (tile.groups() * GROUP, tile.tokens());
    for (i, sum) in sums.iter_mut().enumerate() {
        let (row, token) = (i / tokens.max(1), i % tokens.max(1));
        let start = token / 2 * columns;
        let words = tile.words().iter().skip(start).take(columns).enumerate();
        *sum = words.fold(0, |sum: i32, (column, &word)| {
            let at = column / GROUP * PAIR_GROUP + row * GROUP + place(column);
            let weight = i32::from(weights.get(at).copied().unwrap_or(0));
            let x = match tile.width() {
                Width::Single => word.cast_signed(),
                width => i32::from(unpack(word, width)[token % 2]),
            };
            sum.wrapping_add(weight.wrapping_mul(x))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_come_back() {
        for first in (-32_768..=32_767).step_by(97) {
            for second in [-32_768, -127, -1, 0, 1, 126, 32_767] {
                for width in [Width::Narrow, Width::Wide] {
                    let word = pack([first, second], width);
                    assert_eq!(unpack(word, width), [first, second]);
                }
            }
        }
    }

    #[test]
    fn a_word_times_a_weight_holds_both_products() {
        for weight in [-128, -1, 0, 5, 127] {
            for [x, y] in [[-127, 127], [127, -127], [-3, 2], [127, 127], [-127, -127]] {
                let word = pack([x, y], Width::Narrow).cast_signed().wrapping_mul(weight);
                let both = unpack(word.cast_unsigned(), Width::Narrow).map(i32::from);
                assert_eq!(both, [x, y].map(|x| i32::from(x) * weight));
            }
        }
    }

    #[test]
    fn columns_are_set_one_by_one_or_at_once() {
        let pairs = [[-127, 3], [5, -6]];
        for width in [Width::Narrow, Width::Wide] {
            let mut words = [[0; 2 * 2 * GROUP]; 2];
            set_pairs(&mut words[0], width, 2, 5, pairs.into_iter());
            for (token, value) in pairs.into_iter().flatten().enumerate() {
                set_paired(&mut words[1], width, 2, token, 5, value);
            }
            assert_eq!(words[0], words[1]);
            assert_eq!([words[0][5], words[0][13]].map(|word| unpack(word, width)), pairs);
        }
    }
}
