//! Conditional logit: a softmax over each position's moves, linear in the moves' features.
//!
//! McFadden, "Conditional logit analysis of qualitative choice behavior" (1974); fitted by
//! Newton's method, since the loss is convex and the parameters are few.

/// One position: the features of its moves, and the probability each should have.
#[derive(Debug, Clone)]
pub struct Choice {
    /// One row of features a move.
    pub features: Vec<Vec<f64>>,
    /// Target probabilities, summing to 1.
    pub targets: Vec<f64>,
}

/// Softmax of the moves' scores under `weights`.
pub fn probabilities(features: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let scores: Vec<f64> = features.iter().map(|row| dot(row, weights)).collect();
    softmax(&scores)
}

/// Softmax, shifted by the maximum.
pub fn softmax(scores: &[f64]) -> Vec<f64> {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = scores.iter().map(|s| (s - best).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|w| w / total).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Mean cross-entropy of the targets under `weights`, in nats.
pub fn loss<'a>(choices: impl IntoIterator<Item = &'a Choice>, weights: &[f64]) -> f64 {
    let (mut total, mut count) = (0.0, 0);
    for choice in choices {
        let p = probabilities(&choice.features, weights);
        total -= choice.targets.iter().zip(&p).map(|(t, p)| t * p.max(1e-300).ln()).sum::<f64>();
        count += 1;
    }
    total / f64::from(count.max(1))
}

/// The gradient and the Hessian of the summed cross-entropy.
struct Curvature {
    gradient: Vec<f64>,
    hessian: Vec<Vec<f64>>,
}

fn curvature(choices: &[&Choice], weights: &[f64], columns: &[usize]) -> Curvature {
    use rayon::prelude::*;
    let n = columns.len();
    let zero = || Curvature { gradient: vec![0.0; n], hessian: vec![vec![0.0; n]; n] };
    // Fixed chunks, summed in order: the result does not depend on the threads.
    let parts: Vec<Curvature> = choices
        .par_chunks(64)
        .map(|chunk| {
            let mut sum = zero();
            for choice in chunk {
                add_choice(&mut sum, choice, weights, columns);
            }
            sum
        })
        .collect();
    parts.iter().fold(zero(), |mut sum, part| {
        for i in 0..n {
            sum.gradient[i] += part.gradient[i];
            for j in 0..n {
                sum.hessian[i][j] += part.hessian[i][j];
            }
        }
        sum
    })
}

fn add_choice(sum: &mut Curvature, choice: &Choice, weights: &[f64], columns: &[usize]) {
    let n = columns.len();
    let p = probabilities(&choice.features, weights);
    let mut mean = vec![0.0; n];
    let mut second = vec![vec![0.0; n]; n];
    let mut row = vec![0.0; n];
    for ((features, p), t) in choice.features.iter().zip(&p).zip(&choice.targets) {
        for (x, &column) in row.iter_mut().zip(columns) {
            *x = features[column];
        }
        for i in 0..n {
            mean[i] += p * row[i];
            sum.gradient[i] += (p - t) * row[i];
            if row[i] != 0.0 {
                let scaled = p * row[i];
                for j in 0..=i {
                    second[i][j] += scaled * row[j];
                }
            }
        }
    }
    for i in 0..n {
        for j in 0..=i {
            let value = second[i][j] - mean[i] * mean[j];
            sum.hessian[i][j] += value;
            if i != j {
                sum.hessian[j][i] += value;
            }
        }
    }
}

/// Fits the weights of `columns` (all others stay 0) to `choices`, with `ridge` times the
/// squared norm added to the summed loss. Newton steps, halved while they do not help.
pub fn fit(choices: &[&Choice], width: usize, columns: &[usize], ridge: f64) -> Vec<f64> {
    const STEPS: usize = 30;
    let penalised = |weights: &[f64]| {
        loss(choices.iter().copied(), weights) * choices.len() as f64
            + ridge * dot(weights, weights)
    };
    let mut weights = vec![0.0; width];
    let mut value = penalised(&weights);
    for _ in 0..STEPS {
        let mut c = curvature(choices, &weights, columns);
        for (i, &column) in columns.iter().enumerate() {
            c.gradient[i] += 2.0 * ridge * weights[column];
            c.hessian[i][i] += 2.0 * ridge;
        }
        let step = solve(c.hessian, c.gradient);
        let mut scale = 1.0;
        let next = loop {
            let mut next = weights.clone();
            for (s, &column) in step.iter().zip(columns) {
                next[column] -= scale * s;
            }
            if penalised(&next) <= value || scale < 1e-3 {
                break next;
            }
            scale /= 2.0;
        };
        let new_value = penalised(&next);
        if new_value > value {
            break;
        }
        let converged = new_value >= value - 1e-12 * value.abs();
        (weights, value) = (next, new_value);
        if converged {
            // The last step is taken too: it squares the distance that is left.
            break;
        }
    }
    weights
}

/// Solves `a·x = b` for a symmetric positive definite matrix, by Cholesky's factorisation.
pub(super) fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for j in 0..n {
        for i in j..n {
            let sum: f64 = (0..j).map(|k| a[i][k] * a[j][k]).sum();
            let value = a[i][j] - sum;
            a[i][j] = if i == j { value.max(1e-12).sqrt() } else { value / a[j][j] };
        }
    }
    for i in 0..n {
        let sum: f64 = (0..i).map(|k| a[i][k] * b[k]).sum();
        b[i] = (b[i] - sum) / a[i][i];
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| a[k][i] * b[k]).sum();
        b[i] = (b[i] - sum) / a[i][i];
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_weights_are_recovered() {
        let truth = [0.7, -1.3, 0.0];
        let choices: Vec<Choice> = (0..400)
            .map(|i| {
                let features: Vec<Vec<f64>> = (0..6)
                    .map(|j| {
                        (0..3).map(|k| f64::from((i * 7 + j * 13 + k * 29) % 11) - 5.0).collect()
                    })
                    .collect();
                let targets = probabilities(&features, &truth);
                Choice { features, targets }
            })
            .collect();
        let all: Vec<&Choice> = choices.iter().collect();
        for (fitted, true_) in fit(&all, 3, &[0, 1, 2], 0.0).iter().zip(truth) {
            assert!((fitted - true_).abs() < 1e-6, "{fitted} is not {true_}");
        }
        let restricted = fit(&all, 3, &[1], 0.0);
        assert_eq!((restricted[0], restricted[2]), (0.0, 0.0), "other columns stay 0");
    }
}
