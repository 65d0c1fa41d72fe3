//! The inner loops, checked and measured on the chip they run on.
//!
//! Every target has its own; all must give the same sums. A board computes [`digest`] for each of
//! [`LENGTHS`] and compares it with the host's, and so the outputs of a [`Product`], which it also
//! measures: `cargo xtask kernels` does so on emulated boards.
mod first_moves;
mod product;
mod steps;

use core::ops::RangeInclusive;

pub use first_moves::{FIRST_MOVES, score_first_moves};
pub use product::{MOST_TOKENS, PRODUCTS, Product, WIDTH, digest_of};

use super::{
    arithmetic::{Shift, pair_limit, rescale},
    kernel::{
        Columns, Factors, Rows, Tile, WORD_TOKENS, Width, dot_sums, factor_halves, pair_sums,
        row_halves, single_sums, tile_words,
    },
    scratch::Arena,
    weights::{Buffer, Weights},
};
use crate::{
    fnv,
    net::kbz::{Bytes, Layout, ModelError, WeightBits},
};

/// Columns of the matrices that are checked.
pub const LENGTHS: RangeInclusive<usize> = 1..=LONGEST;
const LONGEST: usize = 257;
/// Tokens and width of the tiles that are checked: one token, pairs, fours, more than have a word
/// an activation.
const TILES: [(usize, Width); 6] = [
    (1, Width::Single),
    (2, Width::Narrow),
    (SEVERAL, Width::Narrow),
    (6, Width::Wide),
    (SEVERAL, Width::Wide),
    (MANY, Width::Wide),
];
const SEVERAL: usize = 8;
const MANY: usize = WORD_TOKENS + 4;
/// Rows of the 16-bit products: an odd and an even number.
const DOT_ROWS: [usize; 2] = [3, 4];
const MOST_DOT_ROWS: usize = DOT_ROWS[1];
/// Distances of the weights from a multiple of 4 bytes.
const WEIGHT_OFFSETS: usize = 4;

/// Rows by which several tokens are multiplied: a pair. By a single token two pairs are.
const fn rows(tokens: usize) -> usize {
    if tokens == 1 { 4 } else { 2 }
}

const WEIGHTS: usize = Layout::new(4, LONGEST).bytes() + WEIGHT_OFFSETS;
const PAIR_BYTES: usize = Layout::new(2, LONGEST).bytes();
const TILE_WORDS: usize = tile_words(MANY, LONGEST);
const HALVES: usize = row_halves(MOST_DOT_ROWS, LONGEST) + factor_halves(2, LONGEST);

/// How the factors are chosen.
#[derive(Debug, Clone, Copy)]
enum Pattern {
    /// Any values.
    Random,
    /// The largest sum there is: lowest weights, lowest activations.
    Highest,
    /// The lowest: lowest weights, highest activations.
    Lowest,
    /// Extremes of either sign in turn.
    Alternating,
}

const PATTERNS: [Pattern; 4] =
    [Pattern::Random, Pattern::Highest, Pattern::Lowest, Pattern::Alternating];

/// Pseudo-random numbers: Knuth's multiplier, of which the upper half is used.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 32) as u32
    }

    /// A number between -limit and limit.
    fn within(&mut self, limit: i32) -> i16 {
        let span = 2 * limit.unsigned_abs() + 1;
        let above = ((u64::from(self.next()) * u64::from(span)) >> 32) as i32;
        (above - limit) as i16
    }
}

impl Pattern {
    /// Weight number `i`.
    fn weight(self, i: usize, random: &mut Random) -> i8 {
        match self {
            Pattern::Random => random.next() as i8,
            Pattern::Highest | Pattern::Lowest => i8::MIN,
            Pattern::Alternating if i.is_multiple_of(3) => i8::MAX,
            Pattern::Alternating => i8::MIN,
        }
    }

    /// Activation number `i` of magnitude at most `limit`.
    fn activation(self, i: usize, limit: i32, random: &mut Random) -> i16 {
        let limit_half = limit as i16;
        match self {
            Pattern::Random => random.within(limit),
            Pattern::Lowest => limit_half,
            Pattern::Alternating if i.is_multiple_of(2) => limit_half,
            Pattern::Highest | Pattern::Alternating => -limit_half,
        }
    }
}

/// A digest of the sums, and of what is made of them on the way to the next matrix, of matrices
/// with `columns` columns (one of [`LENGTHS`]): random and extreme factors at every alignment, for one token
/// and for several. It takes 15 KB of stack.
///
/// # Errors
/// If `columns` is none of [`LENGTHS`].
pub fn digest(columns: usize) -> Result<u64, ModelError> {
    if !LENGTHS.contains(&columns) {
        return Err(ModelError::Scratch { needed: columns, actual: LONGEST });
    }
    let mut digest = fnv::START;
    for pattern in PATTERNS {
        let mut random = Random(columns as u64);
        for offset in 0..WEIGHT_OFFSETS {
            for tile in TILES {
                digest = matrix(columns, tile, pattern, offset, &mut random, digest)?;
            }
        }
        for rows in DOT_ROWS {
            let mut sums = [0; dot_sums(MOST_DOT_ROWS)];
            let mut number = |i, limit| pattern.activation(i, limit, &mut random);
            let stride = dots([columns, rows], &mut sums, &mut number)?;
            digest = sums[..2 * stride].chunks(stride).fold(digest, |digest, sums| {
                let words = sums.iter().take(rows).map(|sum| sum.cast_unsigned().into());
                words.fold(digest, fnv::step)
            });
        }
        digest = steps::digest(columns, pattern, &mut random, digest)?;
    }
    Ok(digest)
}

/// An array at a multiple of 4 bytes.
#[repr(align(4))]
struct Aligned<T>(T);

/// Some rows by `tokens` tokens, the weights `offset` bytes from a word.
fn matrix(
    columns: usize,
    (tokens, width): (usize, Width),
    pattern: Pattern,
    offset: usize,
    random: &mut Random,
    digest: u64,
) -> Result<u64, ModelError> {
    let mut weights = Aligned([0; WEIGHTS]);
    let mut scratch = Aligned([0; 4 * TILE_WORDS]);
    let mut sums = [0; 2 * MANY];
    let sums = &mut sums[..rows(tokens) * tokens];
    let too_long = ModelError::Scratch { needed: columns, actual: LONGEST };
    let bytes = Layout::new(rows(tokens), columns).bytes();
    let weights = weights.0.get_mut(offset..offset + bytes).ok_or(too_long)?;
    // What stands in absent columns must not matter, so that they are filled too.
    for (i, weight) in weights.iter_mut().enumerate() {
        *weight = pattern.weight(i, random);
    }
    let mut tile = Tile::take(&mut Arena::new(&mut scratch.0, 0)?, tokens, columns, width);
    let limit = tile.limit();
    for column in 0..columns {
        let mut values = [0; MANY];
        let values = &mut values[..tokens];
        values.fill_with(|| pattern.activation(column, limit, random));
        // One by one, or a column at once: it must not matter.
        if column.is_multiple_of(2) {
            tile.set_column(column, values.iter().copied());
        } else {
            values.iter().enumerate().for_each(|(token, &x)| tile.set(token, column, x));
        }
    }
    let weights = Bytes::Here(bytemuck::cast_slice(weights));
    let weights = Weights::new(weights, rows(tokens), WeightBits::Eight);
    let mut memory = Aligned([0; PAIR_BYTES]);
    let mut arena = Arena::new(&mut memory.0, 0)?;
    let mut buffer = Buffer::take(&mut arena, weights.buffer_bytes());
    // As many rows at once as a matrix has them.
    let step = weights.at_once(rows(tokens) / 2).max(1);
    for (number, sums) in sums.chunks_mut(2 * step * tokens).enumerate() {
        let pairs = number * step..number * step + sums.len() / (2 * tokens);
        let weights = weights.pairs(pairs, tile.groups(), &mut buffer).ok_or(too_long)?;
        all_sums(weights, &tile, sums);
    }
    Ok(sums.iter().fold(digest, |digest, &sum| {
        let shift = Shift::saturating((random.next() % 62) as i32 + 1);
        let [multiplier, bias] = [random.next().cast_signed(), random.next().cast_signed() >> 8];
        let scaled = rescale(sum, multiplier, shift, bias, i32::MAX);
        fnv::step(fnv::step(digest, sum.cast_unsigned().into()), scaled.cast_unsigned().into())
    }))
}

/// The sums of all rows for every token.
fn all_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    match tile.tokens() {
        1 => single_sums(weights, tile, sums),
        _ => pair_sums(weights, tile, sums),
    }
}

/// Two vectors by some rows, all of 16 bits; returns the distance of their sums. `number` gives
/// factor number i within a limit: the first vector's, the second's, the rows'.
fn dots(
    [length, count]: [usize; 2],
    sums: &mut [i32],
    number: &mut dyn FnMut(usize, i32) -> i16,
) -> Result<usize, ModelError> {
    let mut memory = Aligned([0; 2 * HALVES]);
    let mut arena = Arena::new(&mut memory.0, 0)?;
    let mut factors = Factors::take(&mut arena, 2, length);
    let mut rows = Rows::take(&mut arena, count, length);
    let limit = pair_limit(length);
    for vector in 0..2 {
        let start = vector * length;
        factors.set_row(vector, (start..start + length).map(|i| number(i, limit)));
    }
    // Row by row or column by column: it must not matter.
    if length.is_multiple_of(2) {
        for row in 0..count {
            let start = (2 + row) * length;
            rows.set_row(row, (start..start + length).map(|i| number(i, limit)));
        }
    } else {
        for column in 0..length {
            let at = |row: usize| (2 + row) * length + column;
            rows.set_column(column, (0..count).map(|row| number(at(row), limit)));
        }
    }
    rows.dots(&factors, 0, &mut sums[..2 * rows.stride()]);
    Ok(rows.stride())
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::{vec, vec::Vec};

    /// Sums by definition, in 64 bits, from values of which each was set once.
    fn by_definition(columns: usize, weights: &[i8], activations: &[Vec<i16>]) -> Vec<i64> {
        let rows = rows(activations.len());
        let layout = Layout::new(rows, columns);
        let sum = |row: usize, token: &Vec<i16>| -> i64 {
            let product = |c: usize| i64::from(weights[layout.index(row, c)]) * i64::from(token[c]);
            (0..columns).map(product).sum()
        };
        (0..rows).flat_map(|row| activations.iter().map(move |token| sum(row, token))).collect()
    }

    #[test]
    fn sums_equal_their_definition() {
        for columns in LENGTHS {
            let mut random = Random(columns as u64);
            for (pattern, (tokens, width)) in
                PATTERNS.iter().flat_map(|p| TILES.map(|tile| (p, tile)))
            {
                let bytes = Layout::new(rows(tokens), columns).bytes();
                let weights: Vec<i8> = (0..bytes).map(|i| pattern.weight(i, &mut random)).collect();
                let mut memory = vec![0; 4 * tile_words(tokens, columns) + 3];
                let mut arena = Arena::new(&mut memory, 0).unwrap();
                let mut tile = Tile::take(&mut arena, tokens, columns, width);
                let limit = tile.limit();
                let activations: Vec<Vec<i16>> = (0..tokens)
                    .map(|_| {
                        (0..columns).map(|c| pattern.activation(c, limit, &mut random)).collect()
                    })
                    .collect();
                for (token, values) in activations.iter().enumerate() {
                    values.iter().enumerate().for_each(|(c, &x)| tile.set(token, c, x));
                }
                let mut sums = vec![0; rows(tokens) * tokens];
                all_sums(&weights, &tile, &mut sums);
                let sums: Vec<i64> = sums.into_iter().map(i64::from).collect();
                assert_eq!(sums, by_definition(columns, &weights, &activations), "{columns}");
            }
        }
    }

    #[test]
    fn products_of_vectors_equal_their_definition() {
        for (length, count) in LENGTHS.flat_map(|length| DOT_ROWS.map(|count| (length, count))) {
            let mut random = Random(length as u64);
            for pattern in PATTERNS {
                let limit = pair_limit(length);
                let values: Vec<i16> = (0..(2 + count) * length)
                    .map(|i| pattern.activation(i, limit, &mut random))
                    .collect();
                let mut sums = vec![7; dot_sums(count)];
                let stride = dots([length, count], &mut sums, &mut |i, _| values[i]).unwrap();
                let vectors: Vec<&[i16]> = values.chunks_exact(length).collect();
                for (sums, vector) in sums.chunks(stride).zip(&vectors[..2]) {
                    for (&sum, row) in sums.iter().zip(&vectors[2..]) {
                        let products =
                            vector.iter().zip(*row).map(|(&a, &b)| i64::from(a) * i64::from(b));
                        assert_eq!(i64::from(sum), products.sum::<i64>(), "{length}");
                    }
                }
            }
        }
    }

    #[test]
    fn digests_differ_and_longer_matrices_are_refused() {
        assert_ne!(digest(7).unwrap(), digest(8).unwrap());
        assert!(digest(LONGEST + 1).is_err());
    }
}
