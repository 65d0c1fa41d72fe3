//! Rows of 16-bit factors, one after another.
#[cfg(kernels = "x86")]
use crate::net::infer::parts::part_mut;
use crate::net::{
    infer::{parts::part, scratch::Arena},
    kbz::GROUP,
};

/// Halfwords of scratch for `count` vectors of `length` numbers, on every target.
pub const fn factor_halves(count: usize, length: usize) -> usize {
    count.next_multiple_of(2) * length.next_multiple_of(GROUP)
}

/// The same for the rows that they are multiplied by.
pub const fn row_halves(count: usize, length: usize) -> usize {
    count.next_multiple_of(4) * length.next_multiple_of(GROUP)
}

/// Sums of two vectors by each of `count` rows.
pub const fn dot_sums(count: usize) -> usize {
    2 * count.next_multiple_of(4)
}

/// A matrix whose columns are set at once.
pub trait Columns {
    /// Sets a column of every row.
    fn set_column(&mut self, column: usize, values: impl Iterator<Item = i16>);

    /// Sets a column to rescaled sums within `±limit`, if vectors can; assembly always does, for an
    /// even number of rows.
    #[cfg(any(kernels = "dsp", kernels = "x86"))]
    fn store_column(
        &mut self,
        column: usize,
        sums: &[i32],
        rescaling: &super::Rescaling,
        limit: i32,
    ) -> bool;
}

/// A matrix `[count, length]`.
#[derive(Debug)]
pub struct Rows<'s> {
    halves: &'s mut [i16],
    #[cfg_attr(any(kernels = "armv6m", kernels = "x86"), allow(dead_code))]
    count: usize,
    length: usize,
}

impl<'s> Rows<'s> {
    /// Numbers of any value.
    pub fn take(arena: &mut Arena<'s>, count: usize, length: usize) -> Rows<'s> {
        Rows { halves: arena.take(count * length), count, length }
    }

    /// Sets a row.
    pub fn set_row(&mut self, row: usize, values: impl Iterator<Item = i16>) {
        let halves = self.halves.iter_mut().skip(row * self.length);
        halves.zip(values).for_each(|(half, value)| *half = value);
    }

    /// Row number `row`, to be written.
    #[cfg(kernels = "x86")]
    pub fn row_mut(&mut self, row: usize) -> &mut [i16] {
        part_mut(self.halves, row * self.length, self.length)
    }

    /// Row number `row`.
    pub fn row(&self, row: usize) -> &[i16] {
        part(self.halves, row * self.length, self.length)
    }
}

#[cfg(not(kernels = "dsp"))]
impl Columns for Rows<'_> {
    fn set_column(&mut self, column: usize, values: impl Iterator<Item = i16>) {
        let rows = self.halves.chunks_exact_mut(self.length.max(1));
        for (row, value) in rows.zip(values) {
            if let Some(half) = row.get_mut(column) {
                *half = value;
            }
        }
    }

    /// Columns of rows one after another are no vectors.
    #[cfg(kernels = "x86")]
    fn store_column(&mut self, _: usize, _: &[i32], _: &super::Rescaling, _: i32) -> bool {
        false
    }
}

#[cfg(not(any(kernels = "armv6m", kernels = "x86")))]
impl Rows<'_> {
    /// Distance of the sums of two factors.
    pub const fn stride(&self) -> usize {
        self.count.next_multiple_of(2)
    }

    /// `sums[i · stride + j] = Σ factors[first + i, c] · rows[j, c]` for two factors, the first
    /// of which has an even number.
    pub fn dots(&self, factors: &Rows<'_>, first: usize, sums: &mut [i32]) {
        let sums = sums.chunks_exact_mut(self.stride().max(1));
        for (sums, number) in sums.zip(first..) {
            super::plain::dots(factors.row(number), self.halves, sums);
        }
    }
}
