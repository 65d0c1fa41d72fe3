//! RMSNorm.
use rayon::prelude::*;

use crate::{
    cpu::{
        matrix::{Grad, In, add_partials, piece},
        vector::{dot, dot3, simd},
    },
    program::NORM_EPSILON,
};

/// `1 / √(mean(x²) + ε)`.
#[inline(always)]
fn inverse_rms(x: &[f32]) -> f32 {
    1.0 / (dot(x, x) / x.len() as f32 + NORM_EPSILON).sqrt()
}

pub fn forward(x: In<'_>, weight: &[f32], y: &mut [f32]) {
    let width = x.width;
    let rows = piece(x.rows(), width);
    y.par_chunks_mut(rows * width).enumerate().for_each(|(p, y)| {
        simd(
            #[inline(always)]
            || {
                for (i, y) in y.chunks_exact_mut(width).enumerate() {
                    let x = x.row(p * rows + i);
                    let r = inverse_rms(x);
                    for ((y, &x), &w) in y.iter_mut().zip(x).zip(weight) {
                        *y = x * r * w;
                    }
                }
            },
        );
    });
}

pub fn backward(
    x: In<'_>,
    weight: &[f32],
    dy: &[f32],
    dx: Grad<'_>,
    dweight: &mut [f32],
    scratch: &mut Vec<f32>,
) {
    let width = x.width;
    let rows = piece(x.rows(), 2 * width);
    let Grad { data, stride, columns } = dx;
    scratch.clear();
    scratch.resize(x.rows().div_ceil(rows) * width, 0.0);
    let pieces = data.par_chunks_mut(rows * stride).zip(scratch.par_chunks_mut(width));
    pieces.enumerate().for_each(|(p, (dx, dweight))| {
        simd(
            #[inline(always)]
            || {
                for (i, dx) in dx.chunks_exact_mut(stride).enumerate() {
                    let row = p * rows + i;
                    let dy = &dy[row * width..][..width];
                    row_backward(x.row(row), weight, dy, columns.of(dx), dweight);
                }
            },
        );
    });
    add_partials(dweight, scratch, width, 0);
}

#[inline(always)]
fn row_backward(x: &[f32], weight: &[f32], dy: &[f32], dx: &mut [f32], dweight: &mut [f32]) {
    let width = x.len();
    let (weight, dy) = (&weight[..width], &dy[..width]);
    let (dx, dweight) = (&mut dx[..width], &mut dweight[..width]);
    let r = inverse_rms(x);
    for i in 0..width {
        dweight[i] += dy[i] * x[i] * r;
    }
    let shared = r * r * dot3(weight, dy, x) / width as f32;
    for i in 0..width {
        dx[i] += r * (weight[i] * dy[i] - x[i] * shared);
    }
}
