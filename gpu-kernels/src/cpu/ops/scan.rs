//! Selective scan (Gu and Dao, Mamba) with its step size, skip connection and gate.
use rayon::prelude::*;

use crate::cpu::{
    matrix::{Grad, In, add_partials, piece},
    vector::{add_scaled, dot, exp, sigmoid, silu, silu_slope, simd, softplus},
};

/// What the scan reads.
#[derive(Debug, Clone, Copy)]
pub struct Scan<'a> {
    /// `[N, I]`.
    pub u: In<'a>,
    /// `[N, I]`, before the softplus.
    pub step: In<'a>,
    /// `[N, 2·S]`: B and C.
    pub bc: In<'a>,
    /// `[N, I]`.
    pub z: In<'a>,
    /// `[I, S]`.
    pub decay_log: &'a [f32],
    /// `[I]`.
    pub skip: &'a [f32],
    /// Positions of a sequence.
    pub length: usize,
}

/// The gradients of what it reads.
#[derive(Debug)]
pub struct Gradients<'a> {
    /// Of u.
    pub u: Grad<'a>,
    /// Of the step.
    pub step: Grad<'a>,
    /// Of B and C.
    pub bc: Grad<'a>,
    /// Of z.
    pub z: Grad<'a>,
    /// Of the decay rates' logarithms, added to.
    pub decay_log: &'a mut [f32],
    /// Of the skip connection, added to.
    pub skip: &'a mut [f32],
}

impl<'a> Scan<'a> {
    fn states(&self) -> usize {
        self.bc.width / 2
    }

    #[inline(always)]
    fn b_and_c(&self, row: usize) -> (&'a [f32], &'a [f32]) {
        self.bc.row(row).split_at(self.states())
    }

    /// The states of channel `i` after `row`, from those before; `first` if there are none.
    #[inline(always)]
    fn advance(&self, row: usize, i: usize, first: bool, before: &[f32], after: &mut [f32]) {
        let step = softplus(self.step.row(row)[i]);
        let input = step * self.u.row(row)[i];
        let (b, _) = self.b_and_c(row);
        if first {
            after.iter_mut().zip(b).for_each(|(h, b)| *h = input * b);
        } else {
            let decay = &self.decay_log[i * self.states()..];
            for (((after, before), b), a) in after.iter_mut().zip(before).zip(b).zip(decay) {
                *after = exp(-step * exp(*a)) * before + input * b;
            }
        }
    }
}

pub fn forward(scan: Scan<'_>, y: &mut [f32], scratch: &mut Vec<f32>) {
    let (width, states, length) = (scan.u.width, scan.states(), scan.length);
    let sequences = scan.u.rows() / length;
    let share = piece(sequences, 4 * length * width * states);
    scratch.clear();
    scratch.resize(sequences.div_ceil(share) * 2 * states, 0.0);
    let pieces = y.par_chunks_mut(share * length * width).zip(scratch.par_chunks_mut(2 * states));
    pieces.enumerate().for_each(|(p, (y, h))| {
        let (mut before, mut after) = h.split_at_mut(states);
        simd(
            #[inline(always)]
            || {
                for (j, y) in y.chunks_exact_mut(length * width).enumerate() {
                    let first = (p * share + j) * length;
                    for i in 0..width {
                        for t in 0..length {
                            scan.advance(first + t, i, t == 0, before, after);
                            let (_, c) = scan.b_and_c(first + t);
                            let u = scan.u.row(first + t)[i];
                            let g = dot(after, c) + scan.skip[i] * u;
                            y[t * width + i] = g * silu(scan.z.row(first + t)[i]);
                            std::mem::swap(&mut before, &mut after);
                        }
                    }
                }
            },
        );
    });
}

pub fn backward(scan: Scan<'_>, dy: &[f32], gradients: Gradients<'_>, scratch: &mut Vec<f32>) {
    let (width, states, length) = (scan.u.width, scan.states(), scan.length);
    let sequences = scan.u.rows() / length;
    let share = piece(sequences, 8 * length * width * states);
    // Each piece keeps its sums for the two parameters, the states of one channel at every
    // position, and their gradient.
    let partial = width * states + width + (length + 1) * states;
    scratch.clear();
    scratch.resize(sequences.div_ceil(share) * partial, 0.0);
    let Gradients { u, step, bc, z, decay_log, skip } = gradients;
    let rows = share * length;
    let inputs = u.pieces(rows).zip(step.pieces(rows)).zip(bc.pieces(rows)).zip(z.pieces(rows));
    scratch.par_chunks_mut(partial).zip(inputs).enumerate().for_each(
        |(p, (sums, (((u, step), bc), z)))| {
            let (decay_log, sums) = sums.split_at_mut(width * states);
            let (skip, sums) = sums.split_at_mut(width);
            let (history, dh) = sums.split_at_mut(length * states);
            let mut piece = Piece { u, step, bc, z, decay_log, skip, history, dh };
            simd(
                #[inline(always)]
                || piece.backward(&scan, &dy[p * rows * width..], p * rows),
            );
        },
    );
    add_partials(decay_log, scratch, partial, 0);
    add_partials(skip, scratch, partial, width * states);
}

/// The gradients of some whole sequences.
struct Piece<'a> {
    u: Grad<'a>,
    step: Grad<'a>,
    bc: Grad<'a>,
    z: Grad<'a>,
    decay_log: &'a mut [f32],
    skip: &'a mut [f32],
    /// One channel's states at every position of a sequence.
    history: &'a mut [f32],
    /// The gradient of one channel's states.
    dh: &'a mut [f32],
}

impl Piece<'_> {
    /// `first` is the piece's first row, where `dy` starts.
    #[inline(always)]
    fn backward(&mut self, scan: &Scan<'_>, dy: &[f32], first: usize) {
        for gradient in [&mut self.u, &mut self.step, &mut self.bc, &mut self.z] {
            gradient.clear();
        }
        let (width, states) = (scan.u.width, scan.states());
        for start in (0..self.u.rows()).step_by(scan.length) {
            for i in 0..width {
                for t in 0..scan.length {
                    let (before, after) = self.history.split_at_mut(t * states);
                    let before = &before[t.saturating_sub(1) * states..];
                    scan.advance(first + start + t, i, t == 0, before, &mut after[..states]);
                }
                self.dh.fill(0.0);
                for t in (0..scan.length).rev() {
                    let row = start + t;
                    self.position(scan, first + row, row, t, i, dy[row * width + i]);
                }
            }
        }
    }

    /// One channel at one position: `row` of the batch, `local` of the piece, `t` of the sequence.
    #[inline(always)]
    fn position(&mut self, scan: &Scan<'_>, row: usize, local: usize, t: usize, i: usize, dy: f32) {
        let states = scan.states();
        let (u, raw) = (scan.u.row(row)[i], scan.step.row(row)[i]);
        let step = softplus(raw);
        let (b, c) = scan.b_and_c(row);
        let h = &self.history[t * states..][..states];
        let (gate, slope) = silu_slope(scan.z.row(row)[i]);
        self.z.row(local)[i] += dy * slope * (dot(h, c) + scan.skip[i] * u);
        let dg = dy * gate;
        self.skip[i] += dg * u;
        let (db, dc) = self.bc.row(local).split_at_mut(states);
        add_scaled(dc, dg, h);
        add_scaled(self.dh, dg, c);
        add_scaled(db, step * u, self.dh);
        let dinput = dot(self.dh, b);
        self.u.row(local)[i] += dg * scan.skip[i] + step * dinput;
        let mut dstep = u * dinput;
        if t > 0 {
            let before = &self.history[(t - 1) * states..][..states];
            let channel = i * states..(i + 1) * states;
            let rates = scan.decay_log[channel.clone()].iter().zip(&mut self.decay_log[channel]);
            for ((dh, before), (rate, drate)) in self.dh.iter_mut().zip(before).zip(rates) {
                let a = -exp(*rate);
                *dh *= exp(step * a);
                let dexponent = *dh * before;
                dstep += dexponent * a;
                *drate += dexponent * step * a;
            }
        }
        self.step.row(local)[i] += dstep * sigmoid(raw);
    }
}
