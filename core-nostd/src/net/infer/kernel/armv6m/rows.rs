//! Vectors of 16-bit factors, and the rows that they are multiplied by.
use super::{
    super::{Columns, rows},
    blocks::halves_by_halves,
    packed,
};
use crate::net::{infer::scratch::Arena, kbz::GROUP};

/// Vectors `[count, length]`, padded with zeros to whole groups.
#[derive(Debug)]
pub struct Factors<'s>(rows::Rows<'s>);

impl<'s> Factors<'s> {
    pub fn take(arena: &mut Arena<'s>, count: usize, length: usize) -> Factors<'s> {
        let mut rows = rows::Rows::take(arena, count, length.next_multiple_of(GROUP));
        if !length.is_multiple_of(GROUP) {
            (0..count).for_each(|row| rows.set_row(row, core::iter::repeat_n(0, length + GROUP)));
        }
        Factors(rows)
    }

    /// Sets a row.
    pub fn set_row(&mut self, row: usize, values: impl Iterator<Item = i16>) {
        self.0.set_row(row, values);
    }
}

impl Columns for Factors<'_> {
    fn set_column(&mut self, column: usize, values: impl Iterator<Item = i16>) {
        self.0.set_column(column, values);
    }
}

/// A matrix `[count, length]`, whose rows lie as many tokens of a tile do. What pads them may have
/// any value.
#[derive(Debug)]
pub struct Rows<'s> {
    words: &'s mut [u32],
    groups: usize,
    count: usize,
}

impl<'s> Rows<'s> {
    /// Numbers of any value.
    pub fn take(arena: &mut Arena<'s>, count: usize, length: usize) -> Rows<'s> {
        let (count, groups) = (count.next_multiple_of(packed::BLOCK), length.div_ceil(GROUP));
        let words = arena.take(count / 2 * groups * GROUP);
        Rows { words, groups, count }
    }

    /// Sets a row.
    pub fn set_row(&mut self, row: usize, values: impl Iterator<Item = i16>) {
        packed::set_row_of_halves(self.words, self.groups, row, values);
    }

    /// Distance of the sums of two factors.
    pub const fn stride(&self) -> usize {
        self.count
    }

    /// `sums[i · stride + j] = Σ factors[first + i, c] · rows[j, c]` for two factors, the first
    /// of which has an even number.
    pub fn dots(&self, factors: &Factors<'_>, first: usize, sums: &mut [i32]) {
        let Rows { words, groups, count } = self;
        for (sums, number) in sums.chunks_exact_mut(self.stride().max(1)).zip(first..) {
            let vector = factors.0.row(number);
            let fits = vector.len() == groups * GROUP && words.len() == count / 2 * vector.len();
            if !fits || *groups == 0 || !vector.as_ptr().cast::<u32>().is_aligned() {
                return debug_assert!(false, "factors and sums do not fit each other");
            }
            let (vector, words, sums) = (vector.as_ptr(), words.as_ptr(), sums.as_mut_ptr());
            // SAFETY: the vector has 4 halves a group, aligned to 4, and there is a group; the rows,
            // a multiple of 4 above 0, because there are sums, have 2 words a group each; there is a
            // sum a row.
            unsafe { halves_by_halves(vector, words, *groups, sums, *count) }
        }
    }
}

impl Columns for Rows<'_> {
    fn set_column(&mut self, column: usize, values: impl Iterator<Item = i16>) {
        let mut values = values;
        let pairs = core::iter::from_fn(|| Some([values.next()?, values.next().unwrap_or(0)]));
        packed::set_column_of_halves(self.words, self.groups, column, pairs);
    }
}
