//! Between squares and positions: the mean over the squares, and a row added to all of them.
use kibitzer_core::inputs::SQUARES;
use rayon::prelude::*;

use crate::cpu::{
    matrix::{Grad, In, piece},
    vector::{add, add_scaled, simd},
};

/// Mean over the squares.
pub fn forward(x: In<'_>, y: &mut [f32]) {
    let width = x.width;
    let share = piece(x.rows() / SQUARES, SQUARES * width);
    y.par_chunks_mut(share * width).enumerate().for_each(|(p, y)| {
        simd(
            #[inline(always)]
            || {
                for (i, y) in y.chunks_exact_mut(width).enumerate() {
                    y.fill(0.0);
                    let first = (p * share + i) * SQUARES;
                    for row in first..first + SQUARES {
                        add(y, x.row(row));
                    }
                    y.iter_mut().for_each(|y| *y /= SQUARES as f32);
                }
            },
        );
    });
}

pub fn backward(dy: &[f32], dx: Grad<'_>) {
    let Grad { data, stride, columns } = dx;
    let width = columns.width;
    let rows = piece(data.len() / stride, width);
    data.par_chunks_mut(rows * stride).enumerate().for_each(|(p, dx)| {
        simd(
            #[inline(always)]
            || {
                for (i, dx) in dx.chunks_exact_mut(stride).enumerate() {
                    let n = (p * rows + i) / SQUARES;
                    add_scaled(columns.of(dx), 1.0 / SQUARES as f32, &dy[n * width..][..width]);
                }
            },
        );
    });
}

/// Adds a position's row to all its squares.
pub fn context_forward(squares: &[f32], context: In<'_>, y: &mut [f32]) {
    let width = context.width;
    let rows = piece(squares.len() / width, width);
    let pieces = y.par_chunks_mut(rows * width).zip(squares.par_chunks(rows * width));
    pieces.enumerate().for_each(|(p, (y, x))| {
        simd(
            #[inline(always)]
            || {
                for (i, y) in y.chunks_exact_mut(width).enumerate() {
                    let context = context.row((p * rows + i) / SQUARES);
                    for ((y, &x), &c) in y.iter_mut().zip(&x[i * width..]).zip(context) {
                        *y = x + c;
                    }
                }
            },
        );
    });
}

/// The gradient of the context.
pub fn context_backward(dy: &[f32], dcontext: Grad<'_>) {
    let Grad { data, stride, columns } = dcontext;
    let width = columns.width;
    let share = piece(data.len() / stride, SQUARES * width);
    data.par_chunks_mut(share * stride).enumerate().for_each(|(p, dcontext)| {
        simd(
            #[inline(always)]
            || {
                for (i, dcontext) in dcontext.chunks_exact_mut(stride).enumerate() {
                    let sum = columns.of(dcontext);
                    let dy = &dy[(p * share + i) * SQUARES * width..][..SQUARES * width];
                    dy.chunks_exact(width).for_each(|dy| add(sum, dy));
                }
            },
        );
    });
}
