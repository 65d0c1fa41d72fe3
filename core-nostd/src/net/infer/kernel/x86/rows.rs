//! Rows of 16-bit factors whose columns lie in pairs, those of all rows side by side.
use super::{
    super::{Columns, Rescaling, rows},
    avx512, row_dots,
    steps::half_of,
};
use crate::net::infer::{parts::part_mut, scratch::Arena};

/// Vectors by which rows are multiplied.
pub use rows::Rows as Factors;

/// A matrix `[count, length]`.
#[derive(Debug)]
pub struct Rows<'s> {
    halves: &'s mut [i16],
    /// The rows' number, made even: what stands in a row more does not matter.
    stride: usize,
}

impl<'s> Rows<'s> {
    /// Numbers of any value, but zeros where a pair of columns has only one.
    pub fn take(arena: &mut Arena<'s>, count: usize, length: usize) -> Rows<'s> {
        let stride = count.next_multiple_of(2);
        let halves = arena.take(stride * length.next_multiple_of(2));
        halves.fill(0);
        Rows { halves, stride }
    }

    /// Words of two columns of a row, those of all rows side by side.
    pub fn words(&self) -> &[u32] {
        bytemuck::cast_slice(self.halves)
    }

    /// Sets a row.
    pub fn set_row(&mut self, row: usize, values: impl Iterator<Item = i16>) {
        let pairs = self.halves.as_chunks_mut::<2>().0.iter_mut();
        let mut values = values;
        for pair in pairs.skip(row).step_by(self.stride.max(1)) {
            let Some(first) = values.next() else { return };
            *pair = [first, values.next().unwrap_or(0)];
        }
    }

    /// Distance of the sums of two factors.
    pub const fn stride(&self) -> usize {
        self.stride
    }

    /// `sums[i · stride + j] = Σ factors[first + i, c] · rows[j, c]` for two factors, the first
    /// of which has an even number.
    pub fn dots(&self, factors: &Factors<'_>, first: usize, sums: &mut [i32]) {
        row_dots([factors.row(first), factors.row(first + 1)], self.halves, sums);
    }
}

impl Columns for Rows<'_> {
    fn set_column(&mut self, column: usize, values: impl Iterator<Item = i16>) {
        let pairs = self.halves.as_chunks_mut::<2>().0.iter_mut();
        for (pair, value) in pairs.skip(column / 2 * self.stride).zip(values) {
            pair[column % 2] = value;
        }
    }
    fn store_column(
        &mut self,
        column: usize,
        sums: &[i32],
        rescaling: &Rescaling,
        limit: i32,
    ) -> bool {
        let words: &mut [u32] = bytemuck::cast_slice_mut(self.halves);
        let words = part_mut(words, column / 2 * self.stride, sums.len());
        // SAFETY: a rescaling says that the processor has these vectors.
        unsafe { avx512::store_column(words, half_of(column), sums, rescaling, limit) };
        true
    }
}
