//! Products with few rows, as those of one position's squares: `y = x Wᵀ`.
//!
//! The library wants a matrix's columns side by side. It turns all of W round at every call, which
//! takes as long as the product where x has few rows. Here x is turned, which is small, and W is
//! read once, as it lies.
use std::{array, ops::RangeInclusive};

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::{
    gemm::{MatMut, Old, fetch},
    matrix::{In, piece},
};

/// Rows for which this is faster than the library: with fewer, most lanes of a vector are wasted;
/// with more, x turned round fills the cache.
const ROWS: RangeInclusive<usize> = 24..=64;
/// Weights from which on it is faster: fewer stay in a core's cache, where turning costs little.
const WEIGHTS: usize = 1 << 18;
/// Rows of x are padded to a multiple of this.
const PADDED: usize = 32;
/// Outputs of a tile.
const OUTPUTS: usize = 6;
/// Outputs of a share. Fixed, and not by the number of threads.
const SHARE: usize = 4 * OUTPUTS;
/// Columns of x that are turned round at a time.
const TURNED: usize = 16;
/// Elements of a cache line.
const LINE: usize = 16;

/// The sums of a tile: for each output one a row.
type Sums = [[f32; *ROWS.end()]; OUTPUTS];

/// Whether [`multiply`] is the way for so many rows and weights.
pub fn suits(rows: usize, weights: usize) -> bool {
    ROWS.contains(&rows) && weights >= WEIGHTS
}

/// `y = x Wᵀ`, or `y += …`, on all threads of the current pool; `weight` is `[outputs, inputs]`,
/// and `turned` scratch memory. Each sum is formed in order, whatever the number of threads.
pub fn multiply(y: MatMut<'_>, old: Old, x: In<'_>, weight: &[f32], turned: &mut Vec<f32>) {
    share_out(y, old, x, weight, turned, |share| Arch::new().dispatch(share));
}

/// [`multiply`], with vectors that `run` chooses.
fn share_out(
    y: MatMut<'_>,
    old: Old,
    x: In<'_>,
    weight: &[f32],
    turned: &mut Vec<f32>,
    run: impl Fn(Share<'_>) + Sync,
) {
    let (rows, inputs) = (x.rows().next_multiple_of(PADDED), x.width);
    turned.resize(turned.len().max(rows * inputs), 0.0);
    let turned = &mut turned[..rows * inputs];
    turn(x, rows, turned);
    let shares: Vec<MatMut<'_>> = y.shares(SHARE).collect();
    shares.into_par_iter().enumerate().for_each(|(i, y)| {
        let weight = &weight[i * SHARE * inputs..];
        run(Share { x: turned, rows, inputs, weight, y, old });
    });
}

/// Writes x's columns one after the other, with room for `rows` rows in each.
fn turn(x: In<'_>, rows: usize, turned: &mut [f32]) {
    let blocks = piece(x.width.div_ceil(TURNED), TURNED * rows);
    turned.par_chunks_mut(blocks * TURNED * rows).enumerate().for_each(|(p, turned)| {
        for (b, turned) in turned.chunks_mut(TURNED * rows).enumerate() {
            let first = (p * blocks + b) * TURNED;
            let columns = first..x.width.min(first + TURNED);
            for row in 0..x.rows() {
                let places = turned[row..].iter_mut().step_by(rows);
                places.zip(&x.row(row)[columns.clone()]).for_each(|(to, &from)| *to = from);
            }
        }
    });
}

/// Some outputs, for all rows.
struct Share<'a> {
    /// `[inputs, rows]`.
    x: &'a [f32],
    rows: usize,
    inputs: usize,
    /// `[outputs, inputs]`, and what follows in memory.
    weight: &'a [f32],
    y: MatMut<'a>,
    old: Old,
}

impl WithSimd for Share<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let mut sums: Sums = [[0.0; _]; _];
        // Processors with eight lanes have registers for two vectors of sums, others for four.
        let wide = S::F32_LANES != 8 && self.rows.is_multiple_of(4 * S::F32_LANES);
        for first in (0..self.y.columns()).step_by(OUTPUTS) {
            if wide {
                self.outputs::<S, 4>(simd, first, &mut sums);
            } else {
                self.outputs::<S, 2>(simd, first, &mut sums);
            }
        }
    }
}

impl Share<'_> {
    /// A tile's outputs, from the `first` on, for all rows, so many vectors of them at a time.
    #[inline(always)]
    fn outputs<S: Simd, const VECTORS: usize>(&mut self, simd: S, first: usize, sums: &mut Sums) {
        let Share { x, rows, inputs, weight, ref mut y, old } = *self;
        let outputs = OUTPUTS.min(y.columns() - first);
        let (weight, mut next) = weight[first * inputs..].split_at(outputs * inputs);
        // Where outputs are missing, the last one's sums are formed again and not used.
        let weights = array::from_fn(|i| &weight[i.min(outputs - 1) * inputs..][..inputs]);
        let (x, column) = (S::as_simd_f32s(x).0, rows / S::F32_LANES);
        for vector in (0..column).step_by(VECTORS) {
            tile::<S, VECTORS>(simd, (x, column, vector), weights, next, sums);
            next = &[];
            let start = vector * S::F32_LANES;
            for row in start..y.rows().min(start + VECTORS * S::F32_LANES) {
                let y = &mut y.row(row)[first..first + outputs];
                for (y, sums) in y.iter_mut().zip(&*sums) {
                    let sum = sums[row - start];
                    *y = if old == Old::Keep { *y + sum } else { sum };
                }
            }
        }
    }
}

/// The sums of some outputs for so many vectors of rows, from the `first` of each `column` vectors
/// of x on. Meanwhile the `next` weights are fetched.
#[inline(always)]
fn tile<S: Simd, const VECTORS: usize>(
    simd: S,
    (x, column, first): (&[S::f32s], usize, usize),
    weights: [&[f32]; OUTPUTS],
    next: &[f32],
    sums: &mut Sums,
) {
    let mut vectors = [[simd.splat_f32s(0.0); VECTORS]; OUTPUTS];
    let [a, b, c, d, e, f] = weights;
    let weights = a.iter().zip(b).zip(c).zip(d).zip(e).zip(f);
    for (k, (x, (((((a, b), c), d), e), f))) in x.chunks_exact(column).zip(weights).enumerate() {
        if k.is_multiple_of(LINE / 2) {
            (0..OUTPUTS / 2).for_each(|line| fetch(next.get(OUTPUTS * k + LINE * line)));
        }
        let x: &[S::f32s; VECTORS] = x[first..].first_chunk().expect("whole tiles");
        for (vectors, &weight) in vectors.iter_mut().zip([a, b, c, d, e, f]) {
            let weight = simd.splat_f32s(weight);
            for (vector, &x) in vectors.iter_mut().zip(x) {
                *vector = simd.mul_add_e_f32s(weight, x, *vector);
            }
        }
    }
    for (sums, vectors) in sums.iter_mut().zip(vectors) {
        S::as_mut_simd_f32s(sums).0[..VECTORS].copy_from_slice(&vectors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cpu::gemm::{Mat, multiply_parallel},
        program::{Builder, Rows, Signal},
    };

    /// This processor's vectors, those of older ones, and none.
    fn ways() -> Vec<fn(Share<'_>)> {
        vec![
            |share| Arch::new().dispatch(share),
            |share| share.with_simd(pulp::Scalar::new()),
            #[cfg(target_arch = "x86_64")]
            |share| match pulp::x86::V3::try_new() {
                Some(eight_lanes) => Simd::vectorize(eight_lanes, share),
                None => Arch::new().dispatch(share),
            },
        ]
    }

    /// Small integers: every sum is exact, in any order.
    #[test]
    fn it_multiplies_as_the_library_does() {
        let numbers = |count: usize, by: usize| -> Vec<f32> {
            (0..count).map(|i| ((i * by) % 23) as f32 - 11.0).collect()
        };
        let mut turned = vec![f32::NAN; 100];
        for (rows, inputs, outputs) in
            [(24, 1, 1), (31, 37, 5), (32, 16, 6), (33, 50, 70), (64, 17, 101)]
        {
            // x is some columns of a wider buffer.
            let (x, weight) = (numbers(rows * (inputs + 3), 37), numbers(inputs * outputs, 31));
            let mut builder = Builder::default();
            let buffer = builder.buffer(Signal::Output, Rows::Position, inputs + 3);
            let view = builder.columns(buffer, 2, inputs);
            let x = In::new(&x, inputs + 3, view);
            let both = |run| [(Old::Drop, run), (Old::Keep, run)];
            for (old, run) in ways().into_iter().flat_map(both) {
                let [mut found, mut expected] = [(); 2].map(|()| numbers(rows * outputs, 7));
                let y = MatMut::new(&mut found, rows, outputs, outputs);
                share_out(y, old, x, &weight, &mut turned, run);
                let y = MatMut::new(&mut expected, rows, outputs, outputs);
                let matrix = Mat::new(&weight, outputs, inputs, inputs);
                multiply_parallel(y, old, x.matrix(), matrix.t());
                assert_eq!(found, expected, "{rows} x {inputs} x {outputs}");
            }
        }
    }
}
