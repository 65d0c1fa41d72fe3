//! Activations as `armv6m` has them, and their sums in plain Rust.
//!
//! One token's activations are words in order. Several tokens lie in blocks of four, in a block its
//! columns in pairs. Few tokens have a word an activation: of each token in turn both columns. Of
//! many, pairs share words, `x + 2^15 + y·2^16`: of each pair in turn both columns.
use super::{Tile, tile::holds_words};
use crate::net::kbz::{GROUP, PAIR_GROUP, place};

/// Tokens of a block.
pub const BLOCK: usize = 4;
/// What a word holds above its lower activation, so that it is not negative.
const BIAS: u32 = 1 << 15;
/// A word of two zeros.
const ZEROS: u32 = BIAS;

/// How several tokens' activations are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Words,
    Halves,
}

impl Held {
    const fn of(tokens: usize) -> Held {
        if holds_words(tokens) { Held::Words } else { Held::Halves }
    }

    /// Words of a block's column.
    const fn column(self) -> usize {
        match self {
            Held::Words => BLOCK,
            Held::Halves => BLOCK / 2,
        }
    }

    /// Where the word of a token in a column lies.
    const fn word(self, groups: usize, token: usize, column: usize) -> usize {
        let lane = match self {
            Held::Words => token % BLOCK,
            Held::Halves => token % BLOCK / 2,
        };
        let pair = token / BLOCK * groups * GROUP + column / 2 * 2;
        pair * self.column() + 2 * lane + column % 2
    }

    fn set(self, word: &mut u32, token: usize, value: i16) {
        let half = u32::from(value.cast_unsigned());
        *word = match (self, token % 2) {
            (Held::Words, _) => i32::from(value).cast_unsigned(),
            (Held::Halves, 0) => *word & 0xffff_0000 | half ^ BIAS,
            (Held::Halves, _) => *word & 0x0000_ffff | half << 16,
        };
    }

    fn get(self, word: u32, token: usize) -> i16 {
        match (self, token % 2) {
            (Held::Words, _) => word as i16,
            (Held::Halves, 0) => (word ^ BIAS) as i16,
            (Held::Halves, _) => (word >> 16) as i16,
        }
    }

    fn set_pairs(
        self,
        words: &mut [u32],
        groups: usize,
        column: usize,
        pairs: impl Iterator<Item = [i16; 2]>,
    ) {
        let (start, block) = (self.word(groups, 0, column), groups * GROUP * self.column());
        let mut blocks = words.get_mut(start..).unwrap_or(&mut []).chunks_mut(block.max(1));
        let mut pairs = pairs;
        while let (Some(block), Some(pair)) = (blocks.next(), pairs.next()) {
            let (first, second) = block.split_at_mut(block.len().min(self.column()));
            self.set_pair(first, pair);
            pairs.next().into_iter().for_each(|pair| self.set_pair(second, pair));
        }
    }

    /// Sets a pair of tokens in a column, whose words these are and what lies between them.
    fn set_pair(self, words: &mut [u32], pair: [i16; 2]) {
        match (self, words) {
            (Held::Words, [first, _, second, ..]) => {
                [*first, *second] = pair.map(|x| i32::from(x).cast_unsigned());
            }
            (Held::Halves, [both, ..]) => *both = pack(pair),
            _ => {}
        }
    }

    /// Sets columns of a token from an even one on.
    fn set_row(
        self,
        words: &mut [u32],
        groups: usize,
        (token, first): (usize, usize),
        values: &[i16],
    ) {
        let (pairs, last) = values.as_chunks::<2>();
        if let [value] = last {
            let word = words.get_mut(self.word(groups, token, first + 2 * pairs.len()));
            word.into_iter().for_each(|word| self.set(word, token, *value));
        }
        let words = words.get_mut(self.word(groups, token / BLOCK * BLOCK, first)..);
        let (words, lane) = (words.unwrap_or(&mut []), token % BLOCK);
        match self {
            Held::Words => {
                let steps = words.as_chunks_mut::<{ 2 * BLOCK }>().0;
                for (step, pair) in steps.iter_mut().zip(pairs) {
                    let [x, y] = pair.map(|x| i32::from(x).cast_unsigned());
                    (step[2 * lane], step[2 * lane + 1]) = (x, y);
                }
            }
            Held::Halves => {
                for (step, &[x, y]) in words.as_chunks_mut::<BLOCK>().0.iter_mut().zip(pairs) {
                    self.set(&mut step[lane / 2 * 2], token, x);
                    self.set(&mut step[lane / 2 * 2 + 1], token, y);
                }
            }
        }
    }
}

/// A word of two activations.
fn pack([first, second]: [i16; 2]) -> u32 {
    u32::from(first.cast_unsigned()) ^ BIAS | u32::from(second.cast_unsigned()) << 16
}

/// What fills a tile with zeros.
pub const fn zeros(tokens: usize) -> u32 {
    if holds_words(tokens) { 0 } else { ZEROS }
}

pub fn set_single(words: &mut [u32], column: usize, value: i16) {
    if let Some(word) = words.get_mut(column) {
        *word = i32::from(value).cast_unsigned();
    }
}

pub fn set_paired(
    words: &mut [u32],
    tokens: usize,
    groups: usize,
    token: usize,
    column: usize,
    value: i16,
) {
    let held = Held::of(tokens);
    if let Some(word) = words.get_mut(held.word(groups, token, column)) {
        held.set(word, token, value);
    }
}

/// Sets a column of pairs of tokens.
pub fn set_pairs(
    words: &mut [u32],
    tokens: usize,
    groups: usize,
    column: usize,
    pairs: impl Iterator<Item = [i16; 2]>,
) {
    Held::of(tokens).set_pairs(words, groups, column, pairs);
}

/// Sets columns of a token from an even one on.
pub fn set_row(
    words: &mut [u32],
    tokens: usize,
    groups: usize,
    place: (usize, usize),
    values: &[i16],
) {
    Held::of(tokens).set_row(words, groups, place, values);
}

/// Sets a row of a matrix whose rows share words, however few they are.
pub fn set_row_of_halves(
    words: &mut [u32],
    groups: usize,
    row: usize,
    values: impl Iterator<Item = i16>,
) {
    for (column, value) in values.take(groups * GROUP).enumerate() {
        if let Some(word) = words.get_mut(Held::Halves.word(groups, row, column)) {
            Held::Halves.set(word, row, value);
        }
    }
}

/// Sets a column of such a matrix.
pub fn set_column_of_halves(
    words: &mut [u32],
    groups: usize,
    column: usize,
    pairs: impl Iterator<Item = [i16; 2]>,
) {
    Held::Halves.set_pairs(words, groups, column, pairs);
}

/// The sums of a pair of rows for any number of tokens beyond one, byte by byte.
#[cold]
#[inline(never)]
pub fn pair_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    let (groups, tokens) = (tile.groups(), tile.tokens());
    let held = Held::of(tokens);
    for (i, sum) in sums.iter_mut().enumerate() {
        let (row, token) = (i / tokens.max(1), i % tokens.max(1));
        *sum = (0..groups * GROUP).fold(0, |sum: i32, column| {
            let at = column / GROUP * PAIR_GROUP + row * GROUP + place(column);
            let weight = i32::from(weights.get(at).copied().unwrap_or(0));
            let at = held.word(groups, token, column);
            let word = tile.words().get(at).copied().unwrap_or(0);
            sum.wrapping_add(weight.wrapping_mul(i32::from(held.get(word, token))))
        });
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::{vec, vec::Vec};

    const KINDS: [Held; 2] = [Held::Words, Held::Halves];
    const GROUPS: usize = 3;
    const TOKENS: usize = 8;

    fn memory(held: Held) -> Vec<u32> {
        vec![7; TOKENS / BLOCK * held.column() * GROUPS * GROUP]
    }

    /// Any value of a token in a column.
    fn value(token: usize, column: usize) -> i16 {
        (token * 8_191 + column * 5_779) as i16
    }

    #[test]
    fn activations_come_back() {
        for held in KINDS {
            let mut words = memory(held);
            let places = || (0..TOKENS).flat_map(|t| (0..GROUPS * GROUP).map(move |c| (t, c)));
            for (token, column) in places() {
                let at = held.word(GROUPS, token, column);
                held.set(&mut words[at], token, value(token, column));
            }
            for (token, column) in places() {
                let word = words[held.word(GROUPS, token, column)];
                assert_eq!(held.get(word, token), value(token, column), "{held:?}");
            }
        }
    }

    #[test]
    fn rows_and_columns_are_set_one_by_one_or_at_once() {
        let columns = GROUPS * GROUP;
        for held in KINDS {
            let [mut one_by_one, mut by_rows, mut by_columns] = [(); 3].map(|()| memory(held));
            for token in 0..TOKENS {
                for column in 0..columns {
                    let at = held.word(GROUPS, token, column);
                    held.set(&mut one_by_one[at], token, value(token, column));
                }
                for part in [0..columns / 2 - 1, columns / 2 - 2..columns] {
                    let place = (token, part.start);
                    let row: Vec<i16> = part.map(|column| value(token, column)).collect();
                    held.set_row(&mut by_rows, GROUPS, place, &row);
                }
            }
            for column in 0..columns {
                let pairs = (0..TOKENS).step_by(2).map(|t| [t, t + 1].map(|t| value(t, column)));
                held.set_pairs(&mut by_columns, GROUPS, column, pairs);
            }
            assert_eq!(by_rows, one_by_one, "{held:?}");
            assert_eq!(by_columns, one_by_one, "{held:?}");
        }
    }

    #[test]
    fn words_give_both_sums_modulo_their_size() {
        let pairs = [[-32_768, 32_767], [-1, -1], [32_767, -32_768], [0, 0], [5, -7]];
        let weights = [-128, 127, 3, 55, -1];
        let [mut all, mut upper, mut weight] = [0i32; 3];
        for (pair, w) in pairs.into_iter().zip(weights) {
            let word = pack(pair).cast_signed();
            all = all.wrapping_add(word.wrapping_mul(w));
            upper += (word >> 16) * w;
            weight += w;
        }
        let lower = all.wrapping_sub(upper << 16).wrapping_sub(weight << 15);
        let sum = |token: usize| -> i32 {
            pairs.iter().zip(weights).map(|(pair, w)| i32::from(pair[token]) * w).sum()
        };
        assert_eq!([lower, upper], [sum(0), sum(1)]);
    }
}
