//! Matrix products on slices, by the `gemm` crates.
//!
//! The one file of this backend with unsafe code: their entry point takes raw pointers.
//! Every product is summed over the inner dimension in one fixed order, whatever the number of
//! threads, so results do not depend on how the work was shared.
#![allow(unsafe_code)]

use std::marker::PhantomData;

use gemm_common::Parallelism;
use rayon::prelude::*;

/// Rows up to which a product is shared out by columns: the library packs the whole right matrix
/// on one thread, which costs as much as the multiplication where there are few rows.
const FEW_ROWS: usize = 256;
/// Columns of a share. Fixed, and not by the number of threads.
const COLUMNS: usize = 64;

/// A matrix to read: element (r, c) is `data[r · row + c · column]`.
#[derive(Debug, Clone, Copy)]
pub struct Mat<'a> {
    data: &'a [f32],
    rows: usize,
    columns: usize,
    row: usize,
    column: usize,
}

impl<'a> Mat<'a> {
    /// Rows `stride` elements apart, of which the first `columns` are the matrix's.
    pub fn new(data: &'a [f32], rows: usize, columns: usize, stride: usize) -> Mat<'a> {
        assert!(in_bounds(data.len(), rows, columns, stride), "matrix exceeds its slice");
        Mat { data, rows, columns, row: stride, column: 1 }
    }

    /// The transpose.
    pub const fn t(self) -> Mat<'a> {
        let Mat { data, rows, columns, row, column } = self;
        Mat { data, rows: columns, columns: rows, row: column, column: row }
    }

    /// `count` columns from `first` on.
    fn columns(self, first: usize, count: usize) -> Mat<'a> {
        assert!(first + count <= self.columns, "columns exceed the matrix");
        Mat { data: &self.data[first * self.column..], columns: count, ..self }
    }
}

/// A matrix to write, with rows `stride` elements apart. Nothing else reaches its elements while
/// it lives.
#[derive(Debug)]
pub struct MatMut<'a> {
    data: *mut f32,
    rows: usize,
    columns: usize,
    stride: usize,
    slice: PhantomData<&'a mut [f32]>,
}

// SAFETY: it is as exclusive a reference to its elements as a `&mut [f32]`, which may be sent.
unsafe impl Send for MatMut<'_> {}

impl<'a> MatMut<'a> {
    /// Rows `stride` elements apart, of which the first `columns` are the matrix's.
    pub fn new(data: &'a mut [f32], rows: usize, columns: usize, stride: usize) -> MatMut<'a> {
        assert!(in_bounds(data.len(), rows, columns, stride), "matrix exceeds its slice");
        MatMut { data: data.as_mut_ptr(), rows, columns, stride, slice: PhantomData }
    }

    /// Number of rows.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// One row.
    #[inline(always)]
    pub fn row(&mut self, row: usize) -> &mut [f32] {
        assert!(row < self.rows, "row exceeds the matrix");
        // SAFETY: the constructor checked that the row lies within its slice, a share has columns
        // of its own, and nothing else reaches them while `self` is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.data.add(row * self.stride), self.columns) }
    }

    /// So many columns after so many columns; no two shares have an element in common.
    pub fn shares(self, width: usize) -> impl Iterator<Item = MatMut<'a>> {
        let MatMut { data, rows, columns, stride, slice } = self;
        (0..columns).step_by(width).map(move |first| {
            let columns = width.min(columns - first);
            MatMut { data: data.wrapping_add(first), rows, columns, stride, slice }
        })
    }
}

/// Whether all elements lie within `len`, and no two at the same place.
fn in_bounds(len: usize, rows: usize, columns: usize, stride: usize) -> bool {
    rows > 0 && columns > 0 && stride >= columns && (rows - 1) * stride + columns <= len
}

/// What becomes of the destination's old contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Old {
    /// They are overwritten.
    Drop,
    /// The product is added to them.
    Keep,
}

/// `out = factor · left · right`, or `out += …`, on the calling thread.
pub fn multiply(out: MatMut<'_>, old: Old, factor: f32, left: Mat<'_>, right: Mat<'_>) {
    run(out, old, factor, left, right, Parallelism::None);
}

/// [`multiply`] on all threads of the current pool, where that is worth it.
pub fn multiply_parallel(out: MatMut<'_>, old: Old, left: Mat<'_>, right: Mat<'_>) {
    if out.rows > FEW_ROWS {
        return run(out, old, 1.0, left, right, Parallelism::Rayon(0));
    }
    assert_eq!(out.columns, right.columns, "outer sizes differ");
    let shares: Vec<MatMut<'_>> = out.shares(COLUMNS).collect();
    shares.into_par_iter().enumerate().for_each(|(i, out)| {
        let right = right.columns(i * COLUMNS, out.columns);
        run(out, old, 1.0, left, right, Parallelism::None);
    });
}

/// Has the line of memory where an element lies brought into the cache, where processors offer
/// that.
#[inline(always)]
pub fn fetch(element: Option<&f32>) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = element {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: it reads nothing that the program sees, and may be given any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = element;
}

fn run(
    out: MatMut<'_>,
    old: Old,
    factor: f32,
    left: Mat<'_>,
    right: Mat<'_>,
    parallelism: Parallelism,
) {
    assert_eq!((out.rows, out.columns), (left.rows, right.columns), "outer sizes differ");
    assert_eq!(left.columns, right.rows, "inner sizes differ");
    let product = gemm_f32::gemm::f32::get_gemm_fn();
    // The kernels write columns: they are given the transposed product, Rᵀ Lᵀ into Oᵀ.
    //
    // SAFETY: the constructors checked that every element of the three matrices lies within its
    // slice, and shares keep to theirs; `out` is exclusive and so overlaps neither operand, no two
    // of its elements coincide because its stride is at least its width, and slices are no longer
    // than `isize::MAX` bytes, so the strides fit. No size is zero.
    unsafe {
        product(
            out.columns,
            out.rows,
            left.columns,
            out.data,
            out.stride as isize,
            1,
            old == Old::Keep,
            right.data.as_ptr(),
            right.row as isize,
            right.column as isize,
            left.data.as_ptr(),
            left.row as isize,
            left.column as isize,
            1.0,
            factor,
            false,
            false,
            false,
            parallelism,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 37 + seed * 11) % 23) as f32 - 11.0).collect()
    }

    /// Small integers: every sum is exact, in any order.
    #[test]
    fn products_of_every_shape_are_exact() {
        let inner = 37;
        for (rows, columns) in [(1, 200), (2, 1), (3, 64), (64, 65), (65, 130), (256, 3), (257, 70)]
        {
            let (left, right) = (numbers(rows * inner, 1), numbers(columns * inner, 2));
            let transposed: Vec<f32> =
                (0..rows * inner).map(|i| left[i % rows * inner + i / rows]).collect();
            let right_rows: Vec<f32> =
                (0..columns * inner).map(|i| right[i % columns * inner + i / columns]).collect();
            let lefts =
                [Mat::new(&left, rows, inner, inner), Mat::new(&transposed, inner, rows, rows).t()];
            let rights = [
                Mat::new(&right, columns, inner, inner).t(),
                Mat::new(&right_rows, inner, columns, columns),
            ];
            for (left_matrix, right_matrix) in
                lefts.iter().flat_map(|l| rights.iter().map(move |r| (*l, *r)))
            {
                // One element is left between the rows, and must stay.
                let stride = columns + 1;
                let mut out = vec![5.0; rows * stride];
                for old in [Old::Drop, Old::Keep] {
                    let matrix = MatMut::new(&mut out, rows, columns, stride);
                    multiply_parallel(matrix, old, left_matrix, right_matrix);
                    let times = if old == Old::Keep { 2.0 } else { 1.0 };
                    for (i, &found) in out.iter().enumerate() {
                        let (row, column) = (i / stride, i % stride);
                        let product = |k: usize| left[row * inner + k] * right[column * inner + k];
                        let expected = match column == columns {
                            true => 5.0,
                            false => times * (0..inner).map(product).sum::<f32>(),
                        };
                        assert_eq!(found, expected, "{rows} x {columns}, {row} {column}");
                    }
                }
            }
        }
    }
}
