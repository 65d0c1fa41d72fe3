//! How closely a quantized network follows the float network.
use std::fmt;

use anyhow::Result;
use kibitzer_gpu::{Batch, Outputs};
use serde::Serialize;

use super::layers::decibels;
use crate::network::Evaluate;

/// The two networks' answers compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parity {
    /// Positions compared.
    pub positions: usize,
    /// Share of them in which both put the same move first.
    pub top1_agreement: f64,
    /// Mean share of the float network's first five moves that are among the integers' first
    /// five.
    pub top5_agreement: f64,
    /// Mean divergence of the integer policy from the float policy, nats.
    pub kl: f64,
    /// Mean distance of the values, which lie between −1 and 1.
    pub value_abs_mean: f64,
    /// The distance that one position in a hundred exceeds.
    pub value_abs_p99: f64,
    /// Power of the float network's logits, less their mean in each position, over that of the
    /// integers' error, decibels.
    pub policy_signal_to_noise: f64,
    /// The same of the values.
    pub value_signal_to_noise: f64,
}

impl fmt::Display for Parity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "compared on          {} positions", self.positions)?;
        writeln!(f, "top-1 agreement      {:.2} %", 100.0 * self.top1_agreement)?;
        writeln!(f, "top-5 agreement      {:.2} %", 100.0 * self.top5_agreement)?;
        writeln!(f, "policy divergence    {:.6} nats", self.kl)?;
        writeln!(f, "value distance       {:.4} (mean)", self.value_abs_mean)?;
        writeln!(f, "                     {:.4} (one in a hundred above)", self.value_abs_p99)?;
        let [policy, value] = [self.policy_signal_to_noise, self.value_signal_to_noise];
        writeln!(f, "signal to noise      {policy:.1} dB of the logits, {value:.1} dB of the value")
    }
}

/// How far the two networks are apart in one position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Whether both put the same move first.
    pub same_first: bool,
    /// Share of the float network's first five moves that are among the integers' first five.
    pub common: f64,
    /// Divergence of the integer policy from the float policy, nats.
    pub kl: f64,
    /// The float network's value less the integers'.
    pub value: f64,
    /// The float network's value.
    pub float_value: f64,
    /// Sums of squares over the legal moves: of the float logits and of the integers' error, each
    /// less its mean.
    pub logits: [f64; 2],
}

impl Parity {
    /// The means over some positions; there must be at least one.
    pub fn of(differences: &[Difference]) -> Parity {
        let positions = differences.len();
        let mean = |pick: fn(&Difference) -> f64| {
            differences.iter().map(pick).sum::<f64>() / positions as f64
        };
        let mut distances: Vec<f64> = differences.iter().map(|d| d.value.abs()).collect();
        distances.sort_by(f64::total_cmp);
        let ratio = |signal: fn(&Difference) -> f64, noise: fn(&Difference) -> f64| {
            let sum = |pick: fn(&Difference) -> f64| differences.iter().map(pick).sum();
            decibels(sum(signal), sum(noise))
        };
        Parity {
            positions,
            top1_agreement: mean(|d| f64::from(u8::from(d.same_first))),
            top5_agreement: mean(|d| d.common),
            kl: mean(|d| d.kl),
            value_abs_mean: mean(|d| d.value.abs()),
            value_abs_p99: distances[(positions * 99 / 100).min(positions - 1)],
            policy_signal_to_noise: ratio(|d| d.logits[0], |d| d.logits[1]),
            value_signal_to_noise: ratio(|d| d.float_value.powi(2), |d| d.value.powi(2)),
        }
    }
}

/// Compares `integer` with `float` on batches of positions that have legal moves, position by
/// position.
///
/// # Errors
/// If a batch is malformed or a device fails.
pub fn compare(
    float: &mut dyn Evaluate,
    integer: &mut dyn Evaluate,
    batches: &[Batch],
    mut progress: impl FnMut(usize),
) -> Result<Vec<Difference>> {
    let mut all = vec![];
    for batch in batches {
        let (float, integer) = (float.evaluate(batch)?, integer.evaluate(batch)?);
        all.extend((0..batch.positions()).map(|i| difference(batch, i, &float, &integer)));
        progress(batch.positions());
    }
    Ok(all)
}

fn difference(batch: &Batch, position: usize, float: &Outputs, integer: &Outputs) -> Difference {
    let entries = batch.entries(position);
    let moves = &batch.legal[entries.clone()];
    let (p, q) = (&float.logits[entries.clone()], &integer.logits[entries]);
    let (wanted, found) = (first(moves, p), first(moves, q));
    let common = wanted.iter().filter(|index| found.contains(index)).count();
    Difference {
        same_first: wanted.first() == found.first(),
        common: common as f64 / wanted.len().max(1) as f64,
        kl: divergence(p, q),
        value: f64::from(float.values[position]) - f64::from(integer.values[position]),
        float_value: f64::from(float.values[position]),
        logits: [
            spread(p.iter().map(|&x| f64::from(x))),
            spread(p.iter().zip(q).map(|(&x, &y)| f64::from(x) - f64::from(y))),
        ],
    }
}

/// The sum of the squares of `values` less their mean.
fn spread(values: impl ExactSizeIterator<Item = f64> + Clone) -> f64 {
    let mean = values.clone().sum::<f64>() / values.len().max(1) as f64;
    values.map(|x| (x - mean).powi(2)).sum()
}

/// The five moves with the highest logits; of equals, the smaller index first, as the core has it.
fn first(moves: &[u16], logits: &[f32]) -> Vec<u16> {
    let mut pairs: Vec<(u16, f32)> = moves.iter().copied().zip(logits.iter().copied()).collect();
    pairs.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
    pairs.into_iter().take(5).map(|(index, _)| index).collect()
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
    fn the_first_five_are_compared_as_sets() {
        let moves: Vec<u16> = (0..7).collect();
        let falling = [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0];
        assert_eq!(first(&moves, &falling), [0, 1, 2, 3, 4]);
        // Equal ones in the order of their indices.
        assert_eq!(first(&[4, 2, 9], &[1.0; 3]), [2, 4, 9]);
        let batch =
            Batch { sequences: 1, length: 1, legal_offsets: vec![0, 7], legal: moves, ..batch() };
        let outputs = |logits: [f32; 7]| Outputs { logits: logits.to_vec(), values: vec![0.0] };
        let other = outputs([6.0, 7.0, 5.0, 1.0, 3.0, 2.0, 4.0]);
        let found = difference(&batch, 0, &outputs(falling), &other);
        assert_eq!((found.same_first, found.common), (false, 0.8));
    }

    #[test]
    fn figures_are_those_worked_out_by_hand() {
        let float = Outputs { logits: vec![0.0, 0.0, 2.0, 1.0], values: vec![0.5, -0.5] };
        let half = (0.5f32).ln();
        let integer = Outputs { logits: vec![half, 0.0, 1.0, 2.0], values: vec![0.5, -0.25] };
        let differences =
            compare(&mut Fixed(float), &mut Fixed(integer), &[batch()], |_| ()).unwrap();
        let parity = Parity::of(&differences);
        // First: 1/2, 1/2 against 1/3, 2/3; of equals the smaller index is first in both.
        let first = 0.5 * (1.5f64).ln() + 0.5 * (0.75f64).ln();
        // Second: p and q swap their moves, so the divergence is (p1 - p2)·(2 - 1).
        let p = 1.0 / (1.0 + (-1.0f64).exp());
        let second = 2.0 * p - 1.0;
        assert_eq!((parity.positions, parity.top1_agreement), (2, 0.5));
        assert_eq!(parity.top5_agreement, 1.0);
        assert_eq!(differences[1].value, -0.25);
        assert!((parity.kl - (first + second) / 2.0).abs() < 1e-7);
        assert!((parity.value_abs_mean - 0.125).abs() < 1e-12);
        assert!((parity.value_abs_p99 - 0.25).abs() < 1e-12);
        // Logits less their means: 0, 0, 1/2, -1/2; errors: ln 2 / 2 twice, then 1, -1.
        let noise = half.powi(2) / 2.0 + 2.0;
        let expected = 10.0 * (0.5 / f64::from(noise)).log10();
        assert!((parity.policy_signal_to_noise - expected).abs() < 1e-5);
        assert!((parity.value_signal_to_noise - 10.0 * 8f64.log10()).abs() < 1e-9);
    }
}
