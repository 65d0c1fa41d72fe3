//! Causal depthwise convolution over a sequence, then SiLU.
use rayon::prelude::*;

use crate::cpu::{
    matrix::{Grad, In, add_partials, piece},
    vector::{silu, silu_slope, simd},
};

/// Shape and parameters of a convolution.
#[derive(Debug, Clone, Copy)]
pub struct Conv<'a> {
    /// `[I, K]`.
    pub weight: &'a [f32],
    /// `[I]`.
    pub bias: &'a [f32],
    /// Taps K.
    pub taps: usize,
    /// Positions of a sequence.
    pub length: usize,
}

impl Conv<'_> {
    /// `bias + Σ_k w[k] · x[row − (K−1) + k]`, within the row's sequence.
    #[inline(always)]
    fn sums(&self, x: In<'_>, row: usize, out: &mut [f32]) {
        out.copy_from_slice(self.bias);
        for (k, other) in self.reach(row) {
            let x = x.row(other);
            for (i, out) in out.iter_mut().enumerate() {
                *out += self.weight[i * self.taps + k] * x[i];
            }
        }
    }

    /// The taps that fall on rows of the sequence, with those rows.
    #[inline(always)]
    fn reach(&self, row: usize) -> impl Iterator<Item = (usize, usize)> {
        let (taps, before) = (self.taps, row % self.length);
        (taps.saturating_sub(before + 1)..taps).map(move |k| (k, row + 1 + k - taps))
    }
}

pub fn forward(conv: Conv<'_>, x: In<'_>, y: &mut [f32]) {
    let width = x.width;
    let rows = piece(x.rows(), (conv.taps + 4) * width);
    y.par_chunks_mut(rows * width).enumerate().for_each(|(p, y)| {
        simd(
            #[inline(always)]
            || {
                for (i, y) in y.chunks_exact_mut(width).enumerate() {
                    conv.sums(x, p * rows + i, y);
                    y.iter_mut().for_each(|y| *y = silu(*y));
                }
            },
        );
    });
}

/// Adds to the parameters' gradients.
pub fn backward(
    conv: Conv<'_>,
    x: In<'_>,
    dy: &[f32],
    dx: Grad<'_>,
    (dweight, dbias): (&mut [f32], &mut [f32]),
    scratch: &mut Vec<f32>,
) {
    let (width, Conv { taps, length, .. }) = (x.width, conv);
    // Whole sequences, because a row's gradient reaches back over its sequence. Each piece keeps
    // its sums of weights and biases, and one row.
    let share = piece(x.rows() / length, (2 * taps + 8) * width * length);
    let partial = (taps + 2) * width;
    scratch.clear();
    scratch.resize((x.rows() / length).div_ceil(share) * partial, 0.0);
    let pieces = dx.pieces(share * length).zip(scratch.par_chunks_mut(partial));
    pieces.enumerate().for_each(|(p, (mut dx, sums))| {
        let (dweight, sums) = sums.split_at_mut(taps * width);
        let (dbias, da) = sums.split_at_mut(width);
        let first = p * share * length;
        simd(
            #[inline(always)]
            || {
                dx.clear();
                for row in first..first + dx.rows() {
                    conv.sums(x, row, da);
                    for ((da, &dy), db) in da.iter_mut().zip(&dy[row * width..]).zip(&mut *dbias) {
                        *da = dy * silu_slope(*da).1;
                        *db += *da;
                    }
                    for (k, other) in conv.reach(row) {
                        let dx = dx.row(other - first);
                        let x = x.row(other);
                        for (i, (dx, &da)) in dx.iter_mut().zip(&*da).enumerate() {
                            *dx += conv.weight[i * taps + k] * da;
                            dweight[i * taps + k] += da * x[i];
                        }
                    }
                }
            },
        );
    });
    add_partials(dweight, scratch, partial, 0);
    add_partials(dbias, scratch, partial, taps * width);
}
