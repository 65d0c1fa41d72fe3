//! Rows of 16-bit factors, in pairs that lie as those of a tile's tokens.
use super::{Rescaling, TOKEN_GROUP, outputs, pairs, plain, steps::column_of};
use crate::net::{
    infer::{kernel::Columns, parts::part, scratch::Arena},
    kbz::GROUP,
};

/// A matrix `[count, length]`, padded with zeros to an even number of rows and to whole groups of
/// columns.
#[derive(Debug)]
pub struct Rows<'s> {
    pub(super) words: &'s mut [u32],
    pub(super) groups: usize,
    pairs: usize,
}

impl<'s> Rows<'s> {
    pub fn take(arena: &mut Arena<'s>, count: usize, length: usize) -> Rows<'s> {
        let (groups, pairs) = (length.div_ceil(GROUP), count.div_ceil(2));
        let needed = pairs * groups * TOKEN_GROUP;
        let words: &mut [u32] = arena.take(needed);
        words.fill(0);
        match words.len() == needed {
            true => Rows { words, groups, pairs },
            false => Rows { words, groups: 0, pairs: 0 },
        }
    }

    /// Sets a row.
    pub fn set_row(&mut self, row: usize, values: impl Iterator<Item = i16>) {
        let halves: &mut [i16] = bytemuck::cast_slice_mut(self.words);
        let start = (row / 2 * self.groups * 2 + row % 2) * GROUP;
        let groups = halves.get_mut(start..).unwrap_or(&mut []).chunks_mut(2 * GROUP);
        let places = groups.flat_map(|group| group.iter_mut().take(GROUP));
        places.zip(values).for_each(|(place, value)| *place = value);
    }

    /// Rows, those that pad included.
    pub const fn stride(&self) -> usize {
        2 * self.pairs
    }

    /// `sums[i · stride + j] = Σ factors[first + i, c] · rows[j, c]` for two factors, the first
    /// of which has an even number.
    pub fn dots(&self, factors: &Rows<'_>, first: usize, sums: &mut [i32]) {
        let words = self.groups * TOKEN_GROUP;
        let pair = part(factors.words, first / 2 * words, words);
        let fits = pair.len() == words && sums.len() == 2 * self.stride();
        if !fits || self.groups == 0 || self.pairs == 0 || factors.groups != self.groups {
            return debug_assert!(false, "factors and sums do not fit each other");
        }
        let (pair, rows, sums) = (pair.as_ptr(), self.words.as_ptr(), sums.as_mut_ptr());
        // SAFETY: words are aligned to 4; a pair of factors has 16 bytes a group, of which there
        // is one at least, and so has each pair of rows, of which there is one, too; `sums` has
        // two words a row.
        unsafe { pairs::paired(pair, rows, self.groups, sums, self.stride(), 0, 0) }
    }
}

impl Columns for Rows<'_> {
    fn set_column(&mut self, column: usize, values: impl Iterator<Item = i16>) {
        let mut values = values;
        let pairs = core::iter::from_fn(|| Some([values.next()?, values.next().unwrap_or(0)]));
        plain::set_pairs(self.words, self.stride(), self.groups, column, pairs);
    }

    fn store_column(
        &mut self,
        column: usize,
        sums: &[i32],
        rescaling: &Rescaling,
        limit: i32,
    ) -> bool {
        let place = column_of(self.words, self.groups, column, sums.len());
        let Some((first, stride)) = place else {
            debug_assert!(false, "sums and rows do not fit each other");
            return false;
        };
        let (sums, pairs) = (sums.as_ptr(), sums.len() / 2);
        // SAFETY: there are two sums a pair, and a pair; the column has as many places.
        unsafe { outputs::store_column(sums, pairs, first, stride, rescaling, limit) };
        true
    }
}
