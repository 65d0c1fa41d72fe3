//! Matrices with 8-bit weights and one scale an output channel.
use core::ops::Range;

#[cfg(kernels = "x86")]
use super::kernel::PAIRS;
#[cfg(any(kernels = "dsp", kernels = "x86"))]
use super::kernel::Rescaling;
use super::{
    arithmetic::{Shift, rescale, rescale_all},
    kernel::{Columns, Rows, Tile, pair_sums, single_sums},
    parts::part_mut,
    scratch::Arena,
    weights::{Buffer, Weights},
};
#[cfg(kernels = "x86")]
use crate::inputs::SQUARES;
use crate::net::kbz::{Scale, Words};

/// Takes what a matrix gives, row by row: a closure. Of one behind `dyn FnMut` the compiler would
/// keep a copy more, to call it for the last time.
pub trait Emit<T> {
    fn emit(&mut self, row: usize, output: T);
}

impl<T, F: FnMut(usize, T)> Emit<T> for F {
    fn emit(&mut self, row: usize, output: T) {
        self(row, output);
    }
}

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
    pub fn buffer<'s>(arena: &mut Arena<'s>, matrices: &[&Linear<'_>]) -> Buffer<'s> {
        let bytes = matrices.iter().map(|matrix| matrix.weights.buffer_bytes());
        Buffer::take(arena, bytes.max().unwrap_or(0))
    }

    /// Multiplier and bias of a row.
    fn factors(&self, row: usize) -> (i32, i32) {
        (self.scales.multiplier(row), self.bias.map_or(0, |bias| bias.get(row)))
    }

    /// Hands the sums of `rows` for every token to `emit`, row by row. `sums` has two numbers a
    /// token.
    pub fn each(
        &self,
        rows: Range<usize>,
        tile: &Tile<'_>,
        sums: &mut [i32],
        buffer: &mut Buffer<'_>,
        emit: &mut dyn for<'e, 's> Emit<&'e mut Sums<'s>>,
    ) -> Option<()> {
        let (room, shift) = (tile.room(), self.scales.shift());
        let mut each = |row, sums: &mut [i32]| {
            let (multiplier, bias) = self.factors(row);
            emit.emit(row, &mut Sums::new(sums, room, (multiplier, shift)).with_bias(bias));
        };
        if tile.tokens() == 1 {
            let emit = &mut |row: usize, sum: i32| each(row, &mut [sum]);
            return self.each_of_one(rows, tile, buffer, None, emit);
        }
        #[cfg(kernels = "x86")]
        let mut block = [0; 2 * PAIRS * SQUARES];
        #[cfg(kernels = "x86")]
        let (sums, step) = match self.weights.at_once(PAIRS) {
            PAIRS if tile.tokens() <= SQUARES => (&mut block[..], PAIRS),
            _ => (sums, 1),
        };
        #[cfg(not(kernels = "x86"))]
        let step = 1;
        let pairs = rows.start / 2..rows.end.div_ceil(2);
        for first in pairs.clone().step_by(step) {
            let last = pairs.end.min(first + step);
            let sums = part_mut(sums, 0, 2 * (last - first) * tile.tokens());
            pair_sums(self.weights.pairs(first..last, tile.groups(), buffer)?, tile, sums);
            let mut rest = sums;
            for row in 2 * first..2 * last {
                // Without the division that chunks take.
                let Some((sums, after)) = rest.split_at_mut_checked(tile.tokens()) else { break };
                rest = after;
                if rows.contains(&row) {
                    each(row, sums);
                }
            }
        }
        Some(())
    }

    /// The outputs `rows` of a single token, within `±limit`, handed to `emit` with the row.
    pub fn each_single(
        &self,
        rows: Range<usize>,
        tile: &Tile<'_>,
        buffer: &mut Buffer<'_>,
        limit: i32,
        emit: &mut dyn Emit<i32>,
    ) -> Option<()> {
        self.each_of_one(rows, tile, buffer, Some(limit), emit)
    }

    /// Hands the outputs of `rows` for a single token, within `±limit`, to `emit`; without a limit
    /// their sums.
    #[inline(never)]
    fn each_of_one(
        &self,
        rows: Range<usize>,
        tile: &Tile<'_>,
        buffer: &mut Buffer<'_>,
        limit: Option<i32>,
        emit: &mut dyn Emit<i32>,
    ) -> Option<()> {
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
                    let output = limit.map_or(sum, |limit| {
                        rescale(sum, multiplier, self.scales.shift(), bias, limit)
                    });
                    emit.emit(row, output);
                }
            }
        }
        Some(())
    }

    /// Output `row` of a single token, within `±limit`.
    pub fn one(
        &self,
        row: usize,
        tile: &Tile<'_>,
        buffer: &mut Buffer<'_>,
        limit: i32,
    ) -> Option<i32> {
        let mut output = 0;
        self.each_single(row..row + 1, tile, buffer, limit, &mut |_: usize, y: i32| output = y)?;
        Some(output)
    }
}

/// The sums of a row for every token, and what makes outputs of them.
#[derive(Debug)]
pub struct Sums<'s> {
    sums: &'s mut [i32],
    room: u32,
    multiplier: i32,
    shift: Shift,
    bias: i32,
}

impl<'s> Sums<'s> {
    /// Sums below 2^(31 − `room`) in magnitude, without a bias.
    pub const fn new(
        sums: &'s mut [i32],
        room: u32,
        (multiplier, shift): (i32, Shift),
    ) -> Sums<'s> {
        Sums { sums, room, multiplier, shift, bias: 0 }
    }

    /// The same with a bias, in units of the outputs.
    pub const fn with_bias(self, bias: i32) -> Sums<'s> {
        Sums { bias, ..self }
    }

    /// The outputs, within `±limit`.
    pub fn within(&mut self, limit: i32) -> &[i32] {
        let Sums { ref mut sums, room, multiplier, shift, bias } = *self;
        rescale_all(sums, room, multiplier, shift, bias, limit);
        sums
    }

    /// The sums, and what rescales them, if that is all there is to do.
    #[cfg(any(kernels = "dsp", kernels = "x86"))]
    pub fn rescaling(&self) -> Option<(&[i32], Rescaling)> {
        let rescaling = Rescaling::new(self.multiplier, self.shift, self.room)?;
        (self.bias == 0).then_some((&*self.sums, rescaling))
    }

    /// Numbers, and a rescaling that makes of them the outputs. Those that no rescaling gives come
    /// out already, within `±limit`, and the rescaling does nothing to them.
    #[cfg(kernels = "dsp")]
    pub fn within_or_rescaled(&mut self, limit: i32) -> (&[i32], Rescaling) {
        match self.rescaling().map(|(_, rescaling)| rescaling) {
            Some(rescaling) => (self.sums, rescaling),
            None => (self.within(limit.min(Rescaling::KEPT)), Rescaling::KEEP),
        }
    }

    /// Sets a column of `rows` to the outputs, within `±limit`, which is at most 32,767.
    pub fn fill_column(&mut self, rows: &mut impl Columns, column: usize, limit: i32) {
        #[cfg(kernels = "x86")]
        if let Some((sums, rescaling)) = self.rescaling()
            && rows.store_column(column, sums, &rescaling, limit)
        {
            return;
        }
        #[cfg(kernels = "dsp")]
        {
            let (sums, rescaling) = self.within_or_rescaled(limit);
            rows.store_column(column, sums, &rescaling, limit);
        }
        #[cfg(not(kernels = "dsp"))]
        rows.set_column(column, self.within(limit).iter().map(|&y| y as i16));
    }

    /// Sets a row of `rows` to the outputs, within ±32,767; a multiple of four, as several squares
    /// have.
    pub fn fill_row(&mut self, rows: &mut Rows<'_>, row: usize) {
        #[cfg(kernels = "dsp")]
        {
            let (sums, rescaling) = self.within_or_rescaled(i16::MAX.into());
            rows.store_row(row, sums, &rescaling);
        }
        #[cfg(not(kernels = "dsp"))]
        rows.set_row(row, self.within(i16::MAX.into()).iter().map(|&y| y as i16));
    }
}
