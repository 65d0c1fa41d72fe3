//! Rows of 16-bit factors, as the inner loops read them.
#[cfg(kernels = "x86")]
use super::chosen;
#[cfg(not(kernels = "x86"))]
use crate::net::infer::part;
use crate::net::{infer::scratch::Arena, kbz::ModelError};

/// Halfwords of scratch for `count` rows of `length` numbers, on every target.
pub const fn row_halves(count: usize, length: usize) -> usize {
    count * length.next_multiple_of(2)
}

/// A matrix `[count, length]` by which vectors are multiplied.
#[derive(Debug)]
pub struct Rows<'s> {
    halves: &'s mut [i16],
    #[cfg_attr(not(kernels = "x86"), allow(dead_code))]
    count: usize,
    length: usize,
}

impl<'s> Rows<'s> {
    /// Numbers of any value, but zeros where a pair of columns has only one.
    pub fn take(
        arena: &mut Arena<'s>,
        count: usize,
        length: usize,
    ) -> Result<Rows<'s>, ModelError> {
        let halves = arena.take(row_halves(count, length))?;
        halves.fill(0);
        Ok(Rows { halves, count, length })
    }
}

#[cfg(not(kernels = "x86"))]
impl Rows<'_> {
    /// Sets a column of every row, to numbers that fit 16 bits.
    pub fn set_column(&mut self, column: usize, ys: &[i32]) {
        for (row, &y) in self.halves.chunks_exact_mut(self.length.max(1)).zip(ys) {
            if let Some(half) = row.get_mut(column) {
                *half = y as i16;
            }
        }
    }

    /// Sets a row, to numbers that fit 16 bits.
    pub fn set_row(&mut self, row: usize, ys: &[i32]) {
        let halves = self.halves.iter_mut().skip(row * self.length);
        halves.zip(ys).for_each(|(half, &y)| *half = y as i16);
    }

    /// `sums[i] = Σ vector[c] · rows[i, c]`: a sum for each row.
    pub fn dots(&self, vector: &[i16], sums: &mut [i32]) {
        super::dots(vector, part(self.halves, 0, self.count * self.length), sums);
    }
}

#[cfg(kernels = "x86")]
impl Rows<'_> {
    /// Sets a column of every row, to numbers that fit 16 bits.
    pub fn set_column(&mut self, column: usize, ys: &[i32]) {
        let pairs = self.halves.as_chunks_mut::<2>().0.iter_mut();
        for (pair, &y) in pairs.skip(column / 2 * self.count).zip(ys) {
            pair[column % 2] = y as i16;
        }
    }

    /// Sets a row, to numbers that fit 16 bits.
    pub fn set_row(&mut self, row: usize, ys: &[i32]) {
        let pairs = self.halves.as_chunks_mut::<2>().0.iter_mut();
        for (pair, ys) in pairs.skip(row).step_by(self.count.max(1)).zip(ys.chunks(2)) {
            pair.iter_mut().zip(ys).for_each(|(half, &y)| *half = y as i16);
        }
    }

    /// `sums[i] = Σ vector[c] · rows[i, c]`: a sum for each row.
    pub fn dots(&self, vector: &[i16], sums: &mut [i32]) {
        debug_assert_eq!([vector.len(), sums.len()], [self.length, self.count]);
        chosen::row_dots(vector, self.halves, sums);
    }
}
