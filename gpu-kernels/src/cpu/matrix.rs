//! Views of buffers, and how work on their rows is shared between threads.
use rayon::prelude::*;

use crate::program::View;

use super::gemm::{Mat, MatMut};

/// Most pieces that an operation's rows are cut into. Fixed, and not the number of threads, so
/// that sums over rows are always formed in the same order.
const PIECES: usize = 32;
/// Least work worth a thread's while, in elements touched.
const GRAIN: usize = 16_384;

/// Rows of each piece when `rows` rows of `cost` elements each are shared out.
pub fn piece(rows: usize, cost: usize) -> usize {
    rows.div_ceil(PIECES).max(GRAIN.div_ceil(cost.max(1))).min(rows.max(1))
}

/// Columns of a buffer, to read.
#[derive(Debug, Clone, Copy)]
pub struct In<'a> {
    data: &'a [f32],
    stride: usize,
    column: usize,
    /// Number of columns.
    pub width: usize,
}

impl<'a> In<'a> {
    /// `data` is whole rows of `stride` elements.
    pub const fn new(data: &'a [f32], stride: usize, view: View) -> In<'a> {
        In { data, stride, column: view.column, width: view.width }
    }

    /// Number of rows.
    pub const fn rows(&self) -> usize {
        self.data.len() / self.stride
    }

    /// One row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &'a [f32] {
        let start = row * self.stride + self.column;
        &self.data[start..start + self.width]
    }

    /// Rows and columns as a matrix.
    pub fn block(&self, rows: std::ops::Range<usize>, column: usize, width: usize) -> Mat<'a> {
        let start = rows.start * self.stride + self.column + column;
        Mat::new(&self.data[start..], rows.len(), width, self.stride)
    }

    /// All of it as a matrix.
    pub fn matrix(&self) -> Mat<'a> {
        self.block(0..self.rows(), 0, self.width)
    }
}

/// Columns of a gradient, to write or to add to.
#[derive(Debug)]
pub struct Grad<'a> {
    /// Whole rows.
    pub data: &'a mut [f32],
    /// Elements from row to row.
    pub stride: usize,
    /// Which columns are meant.
    pub columns: Columns,
}

/// Which columns of a gradient's rows are meant, and whether to add to them.
#[derive(Debug, Clone, Copy)]
pub struct Columns {
    /// First column.
    pub first: usize,
    /// Number of columns.
    pub width: usize,
    /// Whether to add to what is there.
    pub accumulate: bool,
}

impl<'a> Grad<'a> {
    /// `data` is whole rows of `stride` elements.
    pub fn new(data: &'a mut [f32], stride: usize, view: View) -> Grad<'a> {
        let View { column: first, width, accumulate, .. } = view;
        Grad { data, stride, columns: Columns { first, width, accumulate } }
    }

    /// Number of rows.
    pub const fn rows(&self) -> usize {
        self.data.len() / self.stride
    }

    /// Pieces of so many rows.
    pub fn pieces(self, rows: usize) -> impl IndexedParallelIterator<Item = Grad<'a>> {
        let Grad { data, stride, columns } = self;
        data.par_chunks_mut(rows * stride).map(move |data| Grad { data, stride, columns })
    }

    /// One row, as it is.
    #[inline(always)]
    pub fn row(&mut self, row: usize) -> &mut [f32] {
        &mut self.data[row * self.stride + self.columns.first..][..self.columns.width]
    }

    /// Sets everything to zero that is not added to.
    #[inline(always)]
    pub fn clear(&mut self) {
        if !self.columns.accumulate {
            (0..self.rows()).for_each(|row| self.row(row).fill(0.0));
        }
    }

    /// All of it as a matrix.
    pub fn matrix(&mut self) -> MatMut<'_> {
        let rows = self.rows();
        let Columns { first, width, .. } = self.columns;
        MatMut::new(&mut self.data[first..], rows, width, self.stride)
    }
}

impl Columns {
    /// The columns of a whole row, set to zero unless they are added to.
    #[inline(always)]
    pub fn of<'a>(&self, row: &'a mut [f32]) -> &'a mut [f32] {
        let columns = &mut row[self.first..self.first + self.width];
        if !self.accumulate {
            columns.fill(0.0);
        }
        columns
    }
}

/// Adds up the partial sums of all pieces, in order: `out[i] += Σ_p partials[p · stride + i]`.
pub fn add_partials(out: &mut [f32], partials: &[f32], stride: usize, offset: usize) {
    let width = out.len();
    out.par_chunks_mut(4096).enumerate().for_each(|(block, out)| {
        let first = block * 4096;
        debug_assert!(first + out.len() <= width);
        for partial in partials.chunks_exact(stride) {
            super::vector::add(out, &partial[offset + first..offset + first + out.len()]);
        }
    });
}
