//! Matrix products on slices, by the `gemm` crates.
//!
//! The one file of this crate with unsafe code: their entry point takes raw pointers.
//! Every product is summed over the inner dimension in one fixed order, whatever the number of
//! threads, so results do not depend on how the work was shared.
#![allow(unsafe_code)]

use gemm_common::Parallelism;

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
}

/// A matrix to write, with rows `stride` elements apart.
#[derive(Debug)]
pub struct MatMut<'a> {
    data: &'a mut [f32],
    rows: usize,
    columns: usize,
    stride: usize,
}

impl<'a> MatMut<'a> {
    /// Rows `stride` elements apart, of which the first `columns` are the matrix's.
    pub fn new(data: &'a mut [f32], rows: usize, columns: usize, stride: usize) -> MatMut<'a> {
        assert!(in_bounds(data.len(), rows, columns, stride), "matrix exceeds its slice");
        MatMut { data, rows, columns, stride }
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
    run(out, old, 1.0, left, right, Parallelism::Rayon(0));
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
    // slice, `out` is borrowed exclusively and so overlaps neither operand, no two of its
    // elements coincide because its stride is at least its width, and slices are no longer than
    // `isize::MAX` bytes, so the strides fit. No size is zero.
    unsafe {
        product(
            out.columns,
            out.rows,
            left.columns,
            out.data.as_mut_ptr(),
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
