//! Least squares in winning chances, by the method of Levenberg (1944) and Marquardt (1963).
use kibitzer_core::viveka::{
    FULL_PHASE,
    positional::{FEATURE_COUNT, Features},
};
use rayon::prelude::*;

use super::quiet::Quiet;
use crate::{
    fit::matrix::Matrix,
    library::{chance_slope, chances},
};

/// Weights: two a feature.
const WIDTH: usize = 2 * FEATURE_COUNT;
/// Positions summed up at a time. Fixed, and the parts are added in order, so that the result
/// does not depend on the threads.
const CHUNK: usize = 2048;
/// Steps at most; a fit takes about ten.
const STEPS: usize = 60;
/// A step that lowers the error by a smaller share ends the fit.
const TOLERANCE: f64 = 1e-7;
/// No step so short lowers the error: the fit has arrived.
const MAX_DAMPING: f64 = 1e6;

/// Weights to start from.
pub fn zero() -> Vec<f64> {
    vec![0.0; WIDTH]
}

/// The middlegame and the endgame weight of a feature, in centipawns.
pub fn pair(weights: &[f64], feature: usize) -> (f64, f64) {
    (weights[2 * feature], weights[2 * feature + 1])
}

/// What the weights of a position multiply: each feature that is not 0, in proportion to the
/// phase and to its complement.
fn inputs(q: &Quiet) -> Vec<(usize, f64)> {
    let middle = f64::from(q.phase) / f64::from(FULL_PHASE);
    let occurring = q.features.iter().enumerate().filter(|(_, f)| **f != 0);
    occurring
        .flat_map(|(i, &f)| {
            let f = f64::from(f);
            [(2 * i, f * middle), (2 * i + 1, f * (1.0 - middle))]
        })
        .collect()
}

fn evaluate(inputs: &[(usize, f64)], weights: &[f64]) -> f64 {
    inputs.iter().map(|&(i, x)| x * weights[i]).sum()
}

/// Summed squared error of the predicted winning chances, in squared points.
pub fn squared_error(positions: &[&Quiet], weights: &[f64]) -> f64 {
    let error = |q: &&Quiet| {
        let missed = chances(f64::from(q.score)) - chances(evaluate(&inputs(q), weights));
        missed * missed
    };
    let parts: Vec<f64> =
        positions.par_chunks(CHUNK).map(|chunk| chunk.iter().map(error).sum()).collect();
    parts.iter().sum()
}

/// The normal equations at some weights: half the error's gradient, and Gauss and Newton's
/// approximation of half its Hessian.
struct Normal {
    gradient: Vec<f64>,
    hessian: Vec<Vec<f64>>,
}

impl Normal {
    fn zero() -> Normal {
        Normal { gradient: vec![0.0; WIDTH], hessian: vec![vec![0.0; WIDTH]; WIDTH] }
    }

    fn of(positions: &[&Quiet], weights: &[f64]) -> Normal {
        let part = |chunk: &[&Quiet]| {
            let mut sum = Normal::zero();
            chunk.iter().for_each(|q| sum.add_position(q, weights));
            sum
        };
        let parts: Vec<Normal> = positions.par_chunks(CHUNK).map(part).collect();
        let mut sum = Normal::zero();
        parts.iter().for_each(|part| sum.add(part));
        sum.mirror();
        sum
    }

    /// Adds one position; of the Hessian its lower half only.
    fn add_position(&mut self, q: &Quiet, weights: &[f64]) {
        let inputs = inputs(q);
        let cp = evaluate(&inputs, weights);
        let slope = chance_slope(cp);
        let missed = chances(cp) - chances(f64::from(q.score));
        for (at, &(i, x)) in inputs.iter().enumerate() {
            self.gradient[i] += missed * slope * x;
            let scaled = slope * slope * x;
            for &(j, y) in &inputs[..=at] {
                self.hessian[i][j] += scaled * y;
            }
        }
    }

    fn add(&mut self, other: &Normal) {
        for i in 0..WIDTH {
            self.gradient[i] += other.gradient[i];
            for j in 0..=i {
                self.hessian[i][j] += other.hessian[i][j];
            }
        }
    }

    fn mirror(&mut self) {
        for i in 0..WIDTH {
            for j in 0..i {
                self.hessian[j][i] = self.hessian[i][j];
            }
        }
    }
}

/// Penalties on the squared weights: `ridge` times the feature's mean square over the positions,
/// times their number. So every feature is held back alike, whatever it counts, and a weight
/// that the positions say nothing of (an endgame feature's in the middlegame) stays 0.
fn penalties(positions: &[&Quiet], ridge: f64) -> Vec<f64> {
    let squares = |features: &Features| features.map(|f| f64::from(f * f));
    let mut sums = [1.0; FEATURE_COUNT];
    for q in positions {
        sums.iter_mut().zip(squares(&q.features)).for_each(|(sum, square)| *sum += square);
    }
    sums.into_iter().flat_map(|sum| [ridge * sum; 2]).collect()
}

/// Fits the weights, in centipawns, from `start`; `ridge` is in squared points of winning chance
/// a squared centipawn of a feature's usual effect.
pub fn fit(positions: &[&Quiet], ridge: f64, start: &[f64]) -> Vec<f64> {
    let penalties = penalties(positions, ridge);
    let cost = |weights: &[f64]| {
        let penalty: f64 = weights.iter().zip(&penalties).map(|(w, p)| p * w * w).sum();
        squared_error(positions, weights) + penalty
    };
    let mut weights = start.to_vec();
    let mut best = cost(&weights);
    let mut damping = 0.0;
    let mut normal = Normal::of(positions, &weights);
    for _ in 0..STEPS {
        let next = step(&normal, &weights, &penalties, damping);
        let reached = cost(&next);
        if reached > best {
            if damping > MAX_DAMPING {
                break;
            }
            damping = f64::max(10.0 * damping, 1e-3);
            continue;
        }
        let gained = best - reached;
        (weights, best) = (next, reached);
        if gained <= TOLERANCE * best {
            break;
        }
        damping /= 10.0;
        normal = Normal::of(positions, &weights);
    }
    weights
}

/// The weights that the normal equations lead to; `damping` lengthens the Hessian's diagonal.
fn step(normal: &Normal, weights: &[f64], penalties: &[f64], damping: f64) -> Vec<f64> {
    let mut hessian = normal.hessian.clone();
    let mut gradient = normal.gradient.clone();
    for i in 0..WIDTH {
        hessian[i][i] = (hessian[i][i] + penalties[i]) * (1.0 + damping);
        gradient[i] += penalties[i] * weights[i];
    }
    let step = Matrix::from(hessian).factor().solve(&gradient);
    weights.iter().zip(step).map(|(w, s)| w - s).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

    /// Positions whose scores follow from known weights.
    fn positions(truth: &[f64]) -> Vec<Quiet> {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        (0..3000)
            .map(|i| {
                let features = std::array::from_fn(|_| random.random_range(-2..=2));
                let mut quiet =
                    Quiet { opening: String::new(), phase: i % 25, features, balance: 0, score: 0 };
                quiet.score = evaluate(&inputs(&quiet), truth).round() as i32;
                quiet
            })
            .collect()
    }

    #[test]
    fn known_weights_are_recovered() {
        let truth: Vec<f64> = (0..WIDTH).map(|i| ((i * 17) % 41) as f64 - 20.0).collect();
        let positions = positions(&truth);
        let all: Vec<&Quiet> = positions.iter().collect();
        let fitted = fit(&all, 1e-12, &zero());
        for (i, (fitted, true_)) in fitted.iter().zip(&truth).enumerate() {
            // The scores are rounded to centipawns.
            assert!((fitted - true_).abs() < 0.3, "{i}: {fitted} is not {true_}");
        }
        let strong: f64 = fit(&all, 10.0, &zero()).iter().map(|w| w.abs()).sum();
        assert!(strong < 1.0, "a strong ridge leaves nothing: {strong}");
    }

    /// The gradient is that of the squared error, by finite differences.
    #[test]
    fn the_gradient_is_that_of_the_error() {
        let positions = positions(&vec![10.0; WIDTH]);
        let all: Vec<&Quiet> = positions.iter().take(50).collect();
        let weights: Vec<f64> = (0..WIDTH).map(|i| i as f64 / 9.0).collect();
        let normal = Normal::of(&all, &weights);
        for i in [0, 7, 40, WIDTH - 1] {
            let moved = |by: f64| {
                let mut moved = weights.clone();
                moved[i] += by;
                squared_error(&all, &moved)
            };
            let slope = (moved(1e-4) - moved(-1e-4)) / 2e-4 / 2.0;
            assert!((slope - normal.gradient[i]).abs() < 1e-4 * slope.abs().max(1.0));
        }
    }
}
