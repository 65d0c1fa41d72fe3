//! Matrices with 8-bit weights and one scale an output channel.
use core::ops::Range;

use super::{
    arithmetic::{rescale, rescale_all},
    kernel::{Tile, pair_sums, single_sums},
};
use crate::net::kbz::{Scale, Words};

/// Rows whose sums for a single token are computed together.
pub const BLOCK: usize = 16;

/// A matrix `[rows, columns]` whose row r turns activations x into
/// `(Σ w·x) · scale[r] + bias[r]`.
#[derive(Debug, Clone, Copy)]
pub struct Linear<'a> {
    weights: &'a [i8],
    pair_bytes: usize,
    scales: Scale<'a>,
    bias: Option<Words<'a>>,
}

impl<'a> Linear<'a> {
    /// The weights lie as [`Layout`](crate::net::kbz::Layout) says; the scales say how many rows
    /// there are.
    pub fn new(weights: &'a [i8], scales: Scale<'a>) -> Linear<'a> {
        let pairs = scales.len().div_ceil(2);
        let pair_bytes = weights.len().checked_div(pairs).unwrap_or(0);
        Linear { weights, pair_bytes, scales, bias: None }
    }

    /// The same matrix with biases, in units of its outputs.
    pub fn with_bias(self, bias: Words<'a>) -> Linear<'a> {
        Linear { bias: Some(bias), ..self }
    }

    /// Output channels.
    pub fn rows(&self) -> usize {
        self.scales.len()
    }

    /// The weights of some pairs of rows, as far as there are.
    fn pairs(&self, pairs: Range<usize>) -> &'a [i8] {
        let start = (pairs.start * self.pair_bytes).min(self.weights.len());
        let end = (pairs.end * self.pair_bytes).min(self.weights.len());
        &self.weights[start..end.max(start)]
    }

    /// Multiplier and bias of a row.
    fn factors(&self, row: usize) -> (i32, i32) {
        (self.scales.multiplier(row), self.bias.map_or(0, |bias| bias.get(row)))
    }

    /// The outputs `rows` of every token, within `±limit`, handed to `emit` row by row.
    /// `sums` has two numbers a token.
    pub fn each(
        &self,
        rows: Range<usize>,
        tile: &Tile<'_>,
        sums: &mut [i32],
        limit: i32,
        mut emit: impl FnMut(usize, &[i32]),
    ) {
        if tile.tokens() == 1 {
            return self.each_single(rows, tile, limit, |row, y| emit(row, &[y]));
        }
        let room = tile.room();
        for pair in rows.start / 2..rows.end.div_ceil(2) {
            pair_sums(self.pairs(pair..pair + 1), tile, sums);
            let Some((first, second)) = sums.split_at_mut_checked(tile.tokens()) else { return };
            for (row, sums) in [(2 * pair, first), (2 * pair + 1, second)] {
                if rows.contains(&row) {
                    let (multiplier, bias) = self.factors(row);
                    rescale_all(sums, room, multiplier, self.scales.shift(), bias, limit);
                    emit(row, sums);
                }
            }
        }
    }

    /// The outputs `rows` of a single token, within `±limit`, handed to `emit` with the row.
    pub fn each_single(
        &self,
        rows: Range<usize>,
        tile: &Tile<'_>,
        limit: i32,
        mut emit: impl FnMut(usize, i32),
    ) {
        let mut sums = [0; BLOCK];
        let pairs = rows.start / 2..rows.end.div_ceil(2);
        for first in pairs.clone().step_by(BLOCK / 2) {
            let last = pairs.end.min(first + BLOCK / 2);
            let Some(sums) = sums.get_mut(..2 * (last - first)) else { return };
            single_sums(self.pairs(first..last), tile, sums);
            for (row, &sum) in (2 * first..).zip(sums.iter()) {
                if rows.contains(&row) {
                    let (multiplier, bias) = self.factors(row);
                    emit(row, rescale(sum, multiplier, self.scales.shift(), bias, limit));
                }
            }
        }
    }

    /// Output `row` of a single token, within `±limit`.
    pub fn one(&self, row: usize, tile: &Tile<'_>, limit: i32) -> i32 {
        let mut output = 0;
        self.each_single(row..row + 1, tile, limit, |_, y| output = y);
        output
    }
}
