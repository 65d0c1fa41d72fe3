//! Piece and square embeddings plus the projected scalars.
use kibitzer_core::inputs::{AUX, SQUARES};
use rayon::prelude::*;

use crate::cpu::{
    chunk::Chunk,
    matrix::{add_partials, piece},
    vector::{add, add_scaled, simd},
};

/// The three parameters, or their gradients.
#[derive(Debug)]
pub struct Tables<T> {
    /// `[13, D]`.
    pub piece: T,
    /// `[64, D]`.
    pub square: T,
    /// `[D, 7]`.
    pub aux: T,
}

pub fn forward(chunk: &Chunk<'_>, tables: Tables<&[f32]>, y: &mut [f32]) {
    let width = tables.square.len() / SQUARES;
    y.par_chunks_mut(SQUARES * width).enumerate().for_each(|(n, y)| {
        let (tokens, scalars) = (chunk.tokens(n), chunk.aux(n));
        let (first, rest) = y.split_at_mut(width);
        simd(
            #[inline(always)]
            || {
                // The scalars' share, once in the first row, from where the others take it.
                for (y, aux) in first.iter_mut().zip(tables.aux.chunks_exact(AUX)) {
                    *y = aux.iter().zip(scalars).map(|(a, s)| a * s).sum();
                }
                for (s, y) in rest.chunks_exact_mut(width).enumerate() {
                    y.copy_from_slice(first);
                    add_embeddings(&tables, tokens, s + 1, width, y);
                }
                add_embeddings(&tables, tokens, 0, width, first);
            },
        );
    });
}

#[inline(always)]
fn add_embeddings(t: &Tables<&[f32]>, tokens: &[u8], square: usize, width: usize, y: &mut [f32]) {
    add(y, &t.piece[usize::from(tokens[square]) * width..][..width]);
    add(y, &t.square[square * width..][..width]);
}

pub fn backward(
    chunk: &Chunk<'_>,
    dy: &[f32],
    gradients: Tables<&mut [f32]>,
    scratch: &mut Vec<f32>,
) {
    let width = gradients.square.len() / SQUARES;
    let (pieces, squares) = (gradients.piece.len(), gradients.square.len());
    // Partial sums: pieces, squares, scalars transposed to [7, D], one position's sum.
    let partial = pieces + squares + (AUX + 1) * width;
    let positions = dy.len() / (SQUARES * width);
    let share = piece(positions, SQUARES * width);
    scratch.clear();
    scratch.resize(positions.div_ceil(share) * partial, 0.0);
    let work = dy.par_chunks(share * SQUARES * width).zip(scratch.par_chunks_mut(partial));
    work.enumerate().for_each(|(p, (dy, sums))| {
        let (dpiece, sums) = sums.split_at_mut(pieces);
        let (dsquare, sums) = sums.split_at_mut(squares);
        let (daux, total) = sums.split_at_mut(AUX * width);
        simd(
            #[inline(always)]
            || {
                for (i, dy) in dy.chunks_exact(SQUARES * width).enumerate() {
                    let n = p * share + i;
                    total.fill(0.0);
                    for ((s, dy), &token) in dy.chunks_exact(width).enumerate().zip(chunk.tokens(n))
                    {
                        add(&mut dpiece[usize::from(token) * width..][..width], dy);
                        add(&mut dsquare[s * width..][..width], dy);
                        add(total, dy);
                    }
                    for (daux, &scalar) in daux.chunks_exact_mut(width).zip(chunk.aux(n)) {
                        add_scaled(daux, scalar, total);
                    }
                }
            },
        );
    });
    add_partials(gradients.piece, scratch, partial, 0);
    add_partials(gradients.square, scratch, partial, pieces);
    for sums in scratch.chunks_exact(partial) {
        let daux = &sums[pieces + squares..];
        for (d, out) in gradients.aux.chunks_exact_mut(AUX).enumerate() {
            for (j, out) in out.iter_mut().enumerate() {
                *out += daux[j * width + d];
            }
        }
    }
}
