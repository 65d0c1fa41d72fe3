//! Cross-entropy over the legal moves plus squared error of the value.
use crate::cpu::{chunk::Chunk, matrix::In};

/// Sums over positions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sums {
    /// Of the cross-entropies.
    pub policy: f64,
    /// Of the squared errors.
    pub value: f64,
}

impl std::iter::Sum for Sums {
    fn sum<I: Iterator<Item = Sums>>(all: I) -> Sums {
        all.fold(Sums::default(), |a, b| Sums {
            policy: a.policy + b.policy,
            value: a.value + b.value,
        })
    }
}

/// Adds the chunk's losses to `sums` and writes the gradients of the mean over the whole batch.
pub fn forward_backward(
    chunk: &Chunk<'_>,
    logits: In<'_>,
    values: In<'_>,
    value_weight: f32,
    (dlogits, dvalues): (&mut [f32], &mut [f32]),
    sums: &mut Sums,
) {
    let share = 1.0 / chunk.batch_positions() as f32;
    for (n, (dv, &target)) in dvalues.iter_mut().zip(chunk.target_value()).enumerate() {
        let error = values.row(n)[0] - target;
        sums.value += f64::from(error) * f64::from(error);
        *dv = 2.0 * value_weight * error * share;
        let entries = chunk.entries(n);
        let targets = &chunk.target_policy()[entries.clone()];
        let logit = |i: usize| logits.row(entries.start + i)[0];
        let most = (0..targets.len()).map(logit).fold(f32::NEG_INFINITY, f32::max);
        let total: f64 = (0..targets.len()).map(|i| f64::from(logit(i) - most).exp()).sum();
        let log_sum = f64::from(most) + total.ln();
        for (i, (&target, d)) in targets.iter().zip(&mut dlogits[entries.clone()]).enumerate() {
            let log_p = f64::from(logit(i)) - log_sum;
            sums.policy -= f64::from(target) * log_p;
            *d = (log_p.exp() as f32 - target) * share;
        }
    }
}
