//! Gated hidden layer.
use rayon::prelude::*;

use crate::cpu::{
    matrix::{Grad, In, piece},
    vector::{silu, silu_slope, simd},
};

pub fn forward(x: In<'_>, y: &mut [f32]) {
    let width = x.width / 2;
    let rows = piece(x.rows(), 4 * width);
    y.par_chunks_mut(rows * width).enumerate().for_each(|(p, y)| {
        simd(
            #[inline(always)]
            || {
                for (i, y) in y.chunks_exact_mut(width).enumerate() {
                    let (gate, up) = x.row(p * rows + i).split_at(width);
                    for ((y, &g), &u) in y.iter_mut().zip(gate).zip(up) {
                        *y = silu(g) * u;
                    }
                }
            },
        );
    });
}

pub fn backward(x: In<'_>, dy: &[f32], dx: Grad<'_>) {
    let width = x.width / 2;
    let rows = piece(x.rows(), 8 * width);
    let Grad { data, stride, columns } = dx;
    data.par_chunks_mut(rows * stride).enumerate().for_each(|(p, dx)| {
        simd(
            #[inline(always)]
            || {
                for (i, dx) in dx.chunks_exact_mut(stride).enumerate() {
                    let row = p * rows + i;
                    let (gate, up) = x.row(row).split_at(width);
                    let (dgate, dup) = columns.of(dx).split_at_mut(width);
                    let dy = &dy[row * width..][..width];
                    let inputs = gate.iter().zip(up).zip(dy);
                    for (((&g, &u), &dy), (dg, du)) in inputs.zip(dgate.iter_mut().zip(dup)) {
                        let (value, slope) = silu_slope(g);
                        *dg += dy * u * slope;
                        *du += dy * value;
                    }
                }
            },
        );
    });
}
