//! How closely a quantized network follows the float network.
use std::fmt;

use anyhow::Result;
use kibitzer_gpu::{Batch, Outputs};
use serde::Serialize;

use crate::network::Evaluate;

/// The two networks' answers compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parity {
    /// Positions compared.
    pub positions: usize,
    /// Share of them in which both put the same move first.
    pub top1_agreement: f64,
    /// Mean divergence of the integer policy from the float policy, nats.
    pub kl: f64,
    /// Mean distance of the values, which lie between −1 and 1.
    pub value_abs_mean: f64,
    /// The distance that one position in a hundred exceeds.
    pub value_abs_p99: f64,
}

impl fmt::Display for Parity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "compared on          {} positions", self.positions)?;
        writeln!(f, "top-1 agreement      {:.2} %", 100.0 * self.top1_agreement)?;
        writeln!(f, "policy divergence    {:.6} nats", self.kl)?;
        writeln!(f, "value distance       {:.4} (mean)", self.value_abs_mean)?;
        writeln!(f, "                     {:.4} (one in a hundred above)", self.value_abs_p99)
    }
}

/// Compares `integer` with `float` on batches of positions that have legal moves; there must be
/// at least one position.
///
/// # Errors
/// If a batch is malformed or a device fails.
pub fn compare(
    float: &mut dyn Evaluate,
    integer: &mut dyn Evaluate,
    batches: &[Batch],
    mut progress: impl FnMut(usize),
) -> Result<Parity> {
    let mut tally = Tally::default();
    for batch in batches {
        tally.add(batch, &float.evaluate(batch)?, &integer.evaluate(batch)?);
        progress(batch.positions());
    }
    Ok(tally.finish())
}

#[derive(Debug, Default)]
struct Tally {
    agreements: usize,
    divergence: f64,
    distances: Vec<f64>,
}

impl Tally {
    fn add(&mut self, batch: &Batch, float: &Outputs, integer: &Outputs) {
        for position in 0..batch.positions() {
            let entries = batch.entries(position);
            let moves = &batch.legal[entries.clone()];
            let (p, q) = (&float.logits[entries.clone()], &integer.logits[entries]);
            self.agreements += usize::from(best(moves, p) == best(moves, q));
            self.divergence += divergence(p, q);
            let distance = float.values[position] - integer.values[position];
            self.distances.push(f64::from(distance).abs());
        }
    }

    fn finish(mut self) -> Parity {
        let positions = self.distances.len();
        let count = positions as f64;
        self.distances.sort_by(f64::total_cmp);
        Parity {
            positions,
            top1_agreement: self.agreements as f64 / count,
            kl: self.divergence / count,
            value_abs_mean: self.distances.iter().sum::<f64>() / count,
            value_abs_p99: self.distances[(positions * 99 / 100).min(positions - 1)],
        }
    }
}

/// The move with the highest logit; of equals, the one with the smaller index, as the core has it.
fn best(moves: &[u16], logits: &[f32]) -> Option<u16> {
    let pairs = moves.iter().zip(logits);
    let best = pairs.max_by(|(a, x), (b, y)| x.total_cmp(y).then(b.cmp(a)));
    best.map(|(&index, _)| index)
}

/// Kullback–Leibler divergence of softmax(`q`) from softmax(`p`), nats.
fn divergence(p: &[f32], q: &[f32]) -> f64 {
    let (p, q) = (log_softmax(p), log_softmax(q));
    p.iter().zip(&q).map(|(p, q)| p.exp() * (p - q)).sum()
}

fn log_softmax(logits: &[f32]) -> Vec<f64> {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let shifted = logits.iter().map(|&x| f64::from(x - most));
    let log_sum = shifted.clone().map(f64::exp).sum::<f64>().ln();
    shifted.map(|x| x - log_sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers what it was told to.
    struct Fixed(Outputs);

    impl Evaluate for Fixed {
        fn evaluate(&mut self, _: &Batch) -> Result<Outputs> {
            Ok(self.0.clone())
        }
    }

    fn batch() -> Batch {
        Batch {
            sequences: 2,
            length: 1,
            legal_offsets: vec![0, 2, 4],
            legal: vec![9, 5, 1, 2],
            ..Batch::default()
        }
    }

    #[test]
    fn figures_are_those_worked_out_by_hand() {
        let float = Outputs { logits: vec![0.0, 0.0, 2.0, 1.0], values: vec![0.5, -0.5] };
        let half = (0.5f32).ln();
        let integer = Outputs { logits: vec![half, 0.0, 1.0, 2.0], values: vec![0.5, -0.25] };
        let parity = compare(&mut Fixed(float), &mut Fixed(integer), &[batch()], |_| ()).unwrap();
        // First: 1/2, 1/2 against 1/3, 2/3; of equals the smaller index is first in both.
        let first = 0.5 * (1.5f64).ln() + 0.5 * (0.75f64).ln();
        // Second: p and q swap their moves, so the divergence is (p1 - p2)·(2 - 1).
        let p = 1.0 / (1.0 + (-1.0f64).exp());
        let second = 2.0 * p - 1.0;
        assert_eq!((parity.positions, parity.top1_agreement), (2, 0.5));
        assert!((parity.kl - (first + second) / 2.0).abs() < 1e-7);
        assert!((parity.value_abs_mean - 0.125).abs() < 1e-12);
        assert!((parity.value_abs_p99 - 0.25).abs() < 1e-12);
    }
}
