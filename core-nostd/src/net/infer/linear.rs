//! Matrices with 8-bit weights and one scale an output channel.
use core::ops::Range;

use super::{
    arithmetic::{rescale, rescale_all},
    kernel::{Tile, pair_sums, single_sums},
    scratch::Arena,
    weights::{Buffer, Weights},
};
use crate::net::kbz::{ModelError, Scale, Words};

/// Rows whose sums for a single token are computed together.
pub const BLOCK: usize = 16;

/// A matrix `[rows, columns]` whose row r turns activations x into
/// `(Σ w·x) · scale[r] + bias[r]`.
#[derive(Debug, Clone, Copy)]
pub struct Linear<'a> {
    weights: Weights<'a>,
    scales: Scale<'a>,
    bias: Option<Words<'a>>,
}

impl<'a> Linear<'a> {
    /// A matrix without biases, with as many rows as there are scales.
    pub const fn new(weights: Weights<'a>, scales: Scale<'a>) -> Linear<'a> {
        Linear { weights, scales, bias: None }
    }

    /// The same matrix with biases, in units of its outputs.
    pub const fn with_bias(self, bias: Words<'a>) -> Linear<'a> {
        Linear { bias: Some(bias), ..self }
    }

    /// Output channels.
    pub const fn rows(&self) -> usize {
        self.scales.len()
    }

    /// Room for the weights of whichever of `matrices` needs most.
    pub fn buffer<'s, const N: usize>(
        arena: &mut Arena<'s>,
        matrices: [&Linear<'_>; N],
    ) -> Result<Buffer<'s>, ModelError> {
        Buffer::take(arena, &matrices.map(|matrix| &matrix.weights))
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
        buffer: &mut Buffer<'_>,
        limit: i32,
        emit: &mut dyn FnMut(usize, &[i32]),
    ) -> Result<(), ModelError> {
        if tile.tokens() == 1 {
            return self.each_single(rows, tile, buffer, limit, &mut |row, y| emit(row, &[y]));
        }
        let room = tile.room();
        for pair in rows.start / 2..rows.end.div_ceil(2) {
            pair_sums(self.weights.pairs(pair..pair + 1, tile.groups(), buffer)?, tile, sums);
            let Some((first, second)) = sums.split_at_mut_checked(tile.tokens()) else { break };
            for (row, sums) in [(2 * pair, first), (2 * pair + 1, second)] {
                if rows.contains(&row) {
                    let (multiplier, bias) = self.factors(row);
                    rescale_all(sums, room, multiplier, self.scales.shift(), bias, limit);
                    emit(row, sums);
                }
            }
        }
        Ok(())
    }

    /// The outputs `rows` of a single token, within `±limit`, handed to `emit` with the row.
    pub fn each_single(
        &self,
        rows: Range<usize>,
        tile: &Tile<'_>,
        buffer: &mut Buffer<'_>,
        limit: i32,
        emit: &mut dyn FnMut(usize, i32),
    ) -> Result<(), ModelError> {
        let mut sums = [0; BLOCK];
        let pairs = rows.start / 2..rows.end.div_ceil(2);
        let step = self.weights.at_once(BLOCK / 2).max(1);
        for first in pairs.clone().step_by(step) {
            let last = pairs.end.min(first + step);
            let Some(sums) = sums.get_mut(..2 * (last - first)) else { break };
            single_sums(self.weights.pairs(first..last, tile.groups(), buffer)?, tile, sums);
            for (row, &sum) in (2 * first..).zip(sums.iter()) {
                if rows.contains(&row) {
                    let (multiplier, bias) = self.factors(row);
                    emit(row, rescale(sum, multiplier, self.scales.shift(), bias, limit));
                }
            }
        }
        Ok(())
    }

    /// Output `row` of a single token, within `±limit`.
    pub fn one(
        &self,
        row: usize,
        tile: &Tile<'_>,
        buffer: &mut Buffer<'_>,
        limit: i32,
    ) -> Result<i32, ModelError> {
        let mut output = 0;
        self.each_single(row..row + 1, tile, buffer, limit, &mut |_, y| output = y)?;
        Ok(output)
    }
}
