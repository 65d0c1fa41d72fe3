//! The passes over all parameters: the optimizer's and the running average's.
use rayon::prelude::*;

use super::vector::{dot, simd};
use crate::{AdamW, OptimizerState};

/// Parameters that one thread takes at a time.
const BLOCK: usize = 1 << 16;

/// Euclidean norm.
pub fn norm(gradient: &[f32], squares: &mut Vec<f64>) -> f32 {
    let blocks = gradient.par_chunks(BLOCK);
    let square = |block: &[f32]| {
        // Short stretches in f32, then f64: the sum of millions of squares keeps its digits.
        block
            .chunks(1024)
            .map(|part| {
                f64::from(simd(
                    #[inline(always)]
                    || dot(part, part),
                ))
            })
            .sum::<f64>()
    };
    blocks.map(square).collect_into_vec(squares);
    squares.iter().sum::<f64>().sqrt() as f32
}

/// One step; `factor` is what clipping leaves of the gradient.
pub fn step(
    parameters: &mut [f32],
    gradient: &[f32],
    state: &mut OptimizerState,
    hyper: &AdamW,
    factor: f32,
) {
    state.step += 1;
    let (size, root) = hyper.corrections(state.step);
    let keep = 1.0 - hyper.learning_rate * hyper.weight_decay;
    let AdamW { beta1, beta2, epsilon, .. } = *hyper;
    let (new1, new2) = (1.0 - beta1, 1.0 - beta2);
    let inverse_root = 1.0 / root;
    parameters
        .par_chunks_mut(BLOCK)
        .zip(gradient.par_chunks(BLOCK))
        .zip(state.m.par_chunks_mut(BLOCK).zip(state.v.par_chunks_mut(BLOCK)))
        .for_each(|((parameters, gradient), (m, v))| {
            simd(
                #[inline(always)]
                || {
                    let moments = m.iter_mut().zip(v.iter_mut());
                    for ((p, &g), (m, v)) in parameters.iter_mut().zip(gradient).zip(moments) {
                        let g = g * factor;
                        *m = beta1 * *m + new1 * g;
                        *v = beta2 * *v + new2 * g * g;
                        *p = *p * keep - size * *m / (v.sqrt() * inverse_root + epsilon);
                    }
                },
            );
        });
}

/// `average += weight · (parameters − average)`.
pub fn average(average: &mut [f32], parameters: &[f32], weight: f32) {
    let blocks = average.par_chunks_mut(BLOCK).zip(parameters.par_chunks(BLOCK));
    blocks.for_each(|(average, parameters)| {
        simd(
            #[inline(always)]
            || {
                for (a, &p) in average.iter_mut().zip(parameters) {
                    *a += weight * (p - *a);
                }
            },
        );
    });
}
