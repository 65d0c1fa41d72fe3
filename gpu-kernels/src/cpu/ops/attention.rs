//! Multi-head attention within groups of rows.
use std::ops::Range;

use rayon::prelude::*;

use crate::cpu::{
    gemm::{Mat, MatMut, Old, multiply},
    matrix::{Grad, In, add_partials, piece},
    vector::{add, dot, exp, max, simd, sum},
};

/// Shape and bias of an attention.
#[derive(Debug, Clone, Copy)]
pub struct Attention<'a> {
    /// Number of heads.
    pub heads: usize,
    /// Rows of a group.
    pub group: usize,
    /// Whether a row sees only rows up to itself.
    pub causal: bool,
    /// `[heads, group, group]`.
    pub bias: Option<&'a [f32]>,
}

/// One head in one group of rows.
#[derive(Clone, Copy)]
struct Head<'a> {
    attention: Attention<'a>,
    qkv: In<'a>,
    first: usize,
    head: usize,
}

impl<'a> Head<'a> {
    fn size(&self) -> usize {
        self.qkv.width / 3 / self.attention.heads
    }

    fn scale(&self) -> f32 {
        (self.size() as f32).sqrt().recip()
    }

    /// Columns of this head within the queries, keys (1) or values (2).
    fn columns(&self, part: usize) -> Range<usize> {
        let start = part * (self.qkv.width / 3) + self.head * self.size();
        start..start + self.size()
    }

    /// Queries (0), keys (1) or values (2), `[group, d]`.
    fn part(&self, part: usize) -> Mat<'a> {
        let rows = self.first..self.first + self.attention.group;
        self.qkv.block(rows, self.columns(part).start, self.size())
    }

    /// Rows of the gradient or output that belong to this head, in a slice of whole rows that
    /// begins with the group.
    fn block<'b>(&self, rows: &'b [f32], width: usize) -> Mat<'b> {
        Mat::new(&rows[self.head * self.size()..], self.attention.group, self.size(), width)
    }

    /// Scaled scores plus bias.
    fn scores(&self, out: &mut [f32]) {
        let t = self.attention.group;
        let keys = self.part(1).t();
        multiply(MatMut::new(out, t, t, t), Old::Drop, self.scale(), self.part(0), keys);
        if let Some(bias) = self.attention.bias {
            simd(
                #[inline(always)]
                || add(out, &bias[self.head * t * t..]),
            );
        }
    }

    /// Keys that a query sees.
    #[inline(always)]
    fn seen(&self, query: usize) -> usize {
        if self.attention.causal { query + 1 } else { self.attention.group }
    }
}

pub fn forward(
    attention: Attention<'_>,
    qkv: In<'_>,
    y: &mut [f32],
    log_sum: &mut [f32],
    scratch: &mut Vec<f32>,
) {
    let Attention { heads, group, .. } = attention;
    let width = qkv.width / 3;
    let groups = qkv.rows() / group;
    let share = piece(groups, group * (2 * group + 4) * width);
    let square = group * group;
    scratch.resize(scratch.len().max(groups.div_ceil(share) * square), 0.0);
    y.par_chunks_mut(share * group * width)
        .zip(log_sum.par_chunks_mut(share * group * heads))
        .zip(scratch.par_chunks_mut(square))
        .enumerate()
        .for_each(|(p, ((y, log_sum), weights))| {
            let groups = y.chunks_mut(group * width).zip(log_sum.chunks_mut(group * heads));
            for (i, (y, log_sum)) in groups.enumerate() {
                for head in 0..heads {
                    let first = (p * share + i) * group;
                    let head = Head { attention, qkv, first, head };
                    head_forward(head, weights, y, log_sum);
                }
            }
        });
}

fn head_forward(head: Head<'_>, weights: &mut [f32], y: &mut [f32], log_sum: &mut [f32]) {
    let (t, heads) = (head.attention.group, head.attention.heads);
    let width = head.size() * heads;
    head.scores(weights);
    simd(
        #[inline(always)]
        || {
            for (query, row) in weights.chunks_exact_mut(t).enumerate() {
                let (seen, unseen) = row.split_at_mut(head.seen(query));
                let most = max(seen);
                seen.iter_mut().for_each(|s| *s = exp(*s - most));
                let total = sum(seen);
                seen.iter_mut().for_each(|s| *s /= total);
                unseen.fill(0.0);
                log_sum[query * heads + head.head] = most + total.ln();
            }
        },
    );
    let out = MatMut::new(&mut y[head.head * head.size()..], t, head.size(), width);
    multiply(out, Old::Drop, 1.0, Mat::new(weights, t, t, t), head.part(2));
}

/// Adds to the bias's gradient.
pub fn backward(
    attention: Attention<'_>,
    qkv: In<'_>,
    log_sum: &[f32],
    dy: &[f32],
    dqkv: Grad<'_>,
    dbias: Option<&mut [f32]>,
    scratch: &mut Vec<f32>,
) {
    let Attention { heads, group, .. } = attention;
    let width = qkv.width / 3;
    let share = piece(qkv.rows() / group, group * (5 * group + 8) * width);
    let square = group * group;
    // Each piece keeps its sum for the bias, weights and gradients of scores.
    let sums = if dbias.is_some() { heads * square } else { 0 };
    let partial = sums + 2 * square;
    scratch.clear();
    scratch.resize((qkv.rows() / group).div_ceil(share) * partial, 0.0);
    let pieces = dqkv.pieces(share * group).zip(scratch.par_chunks_mut(partial));
    pieces.enumerate().for_each(|(p, (dqkv, scratch))| {
        let (dbias, scratch) = scratch.split_at_mut(sums);
        let (weights, dscores) = scratch.split_at_mut(square);
        let Grad { data, stride, columns } = dqkv;
        for (i, data) in data.chunks_mut(group * stride).enumerate() {
            let first = (p * share + i) * group;
            let dy = &dy[first * width..][..group * width];
            let log_sum = &log_sum[first * heads..][..group * heads];
            for head in 0..heads {
                let head = Head { attention, qkv, first, head };
                score_gradients(head, dy, log_sum, weights, dscores);
                if let Some(dbias) = dbias.chunks_exact_mut(square).nth(head.head) {
                    simd(
                        #[inline(always)]
                        || add(dbias, dscores),
                    );
                }
                let dqkv = Grad { data: &mut *data, stride, columns };
                part_gradients(head, dy, weights, dscores, dqkv);
            }
        }
    });
    if let Some(dbias) = dbias {
        add_partials(dbias, scratch, partial, 0);
    }
}

/// The weights, and the gradients of the scores.
fn score_gradients(
    head: Head<'_>,
    dy: &[f32],
    log_sum: &[f32],
    weights: &mut [f32],
    dscores: &mut [f32],
) {
    let (t, heads) = (head.attention.group, head.attention.heads);
    head.scores(weights);
    let dy = head.block(dy, head.size() * heads);
    multiply(MatMut::new(dscores, t, t, t), Old::Drop, 1.0, dy, head.part(2).t());
    simd(
        #[inline(always)]
        || {
            let rows = weights.chunks_exact_mut(t).zip(dscores.chunks_exact_mut(t));
            for (query, (weights, dscores)) in rows.enumerate() {
                let seen = head.seen(query);
                let log_sum = log_sum[query * heads + head.head];
                weights[..seen].iter_mut().for_each(|w| *w = exp(*w - log_sum));
                weights[seen..].fill(0.0);
                let mean = dot(weights, dscores);
                dscores.iter_mut().zip(&*weights).for_each(|(d, w)| *d = w * (*d - mean));
            }
        },
    );
}

/// The gradients of queries, keys and values; `dqkv` begins with the group.
fn part_gradients(head: Head<'_>, dy: &[f32], weights: &[f32], dscores: &[f32], dqkv: Grad<'_>) {
    let t = head.attention.group;
    let Grad { data, stride, columns } = dqkv;
    let old = if columns.accumulate { Old::Keep } else { Old::Drop };
    let dscores = Mat::new(dscores, t, t, t);
    let dy = head.block(dy, head.size() * head.attention.heads);
    let mut part = |part: usize, factor: f32, left: Mat<'_>, right: Mat<'_>| {
        let start = columns.first + head.columns(part).start;
        let out = MatMut::new(&mut data[start..], t, head.size(), stride);
        multiply(out, old, factor, left, right);
    };
    part(0, head.scale(), dscores, head.part(1));
    part(1, head.scale(), dscores.t(), head.part(0));
    part(2, 1.0, Mat::new(weights, t, t, t).t(), dy);
}
