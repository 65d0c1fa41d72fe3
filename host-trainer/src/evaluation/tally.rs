//! Sums over positions from which the report follows.
use kibitzer_gpu::{Batch, Outputs};
use serde::Serialize;

use super::values::{ValueReport, Values};

/// The ranks up to which moves are counted.
const RANKS: [usize; 4] = [1, 3, 5, 10];

/// A network's answers against their targets.
///
/// The wanted move is the one of the highest target probability: the move played, or the
/// engine's best. Equal logits share a rank, and equally wanted moves count alike, so that no
/// order of moves decides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answers {
    /// Positions.
    pub positions: usize,
    /// Share of positions in which the wanted move has the highest probability.
    pub top1: f64,
    /// Share in which it is among the three highest.
    pub top3: f64,
    /// Among the five highest.
    pub top5: f64,
    /// Among the ten highest.
    pub top10: f64,
    /// Cross-entropy of the targets over the legal moves, nats.
    pub cross_entropy: f64,
    /// Entropy of the network's own probabilities, nats.
    pub policy_entropy: f64,
    /// Entropy of the targets, nats: what no cross-entropy can be below.
    pub target_entropy: f64,
    /// The value against its target, both from the mover's side.
    pub value: ValueReport,
}

/// Sums over positions.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    positions: usize,
    ranks: [f64; RANKS.len()],
    cross_entropy: f64,
    policy_entropy: f64,
    target_entropy: f64,
    values: Values,
}

impl Tally {
    /// Adds a batch with its targets and what a network says of it.
    pub fn add(&mut self, batch: &Batch, outputs: &Outputs) {
        for i in 0..batch.positions() {
            let entries = batch.entries(i);
            self.policy(&outputs.logits[entries.clone()], &batch.target_policy[entries]);
            self.values.add(outputs.values[i], batch.target_value[i]);
        }
    }

    /// Adds one position's legal logits and the wanted probabilities.
    fn policy(&mut self, logits: &[f32], wanted: &[f32]) {
        self.positions += 1;
        let most = wanted.iter().copied().fold(0.0, f32::max);
        let best = logits.iter().zip(wanted).filter(|pair| *pair.1 == most).map(|pair| *pair.0);
        let ways = best.clone().count() as f64;
        for (sum, rank) in self.ranks.iter_mut().zip(RANKS) {
            *sum += best.clone().map(|own| among(logits, own, rank)).sum::<f64>() / ways;
        }
        let total = log_sum_exp(logits);
        for (&logit, &q) in logits.iter().zip(wanted) {
            let (log, q) = (f64::from(logit) - total, f64::from(q));
            self.policy_entropy -= log.exp() * log;
            if q > 0.0 {
                self.cross_entropy -= q * log;
                self.target_entropy -= q * q.ln();
            }
        }
    }

    /// The means.
    pub fn answers(&self) -> Answers {
        let mean = |sum: f64| sum / self.positions as f64;
        let [top1, top3, top5, top10] = self.ranks.map(mean);
        Answers {
            positions: self.positions,
            top1,
            top3,
            top5,
            top10,
            cross_entropy: mean(self.cross_entropy),
            policy_entropy: mean(self.policy_entropy),
            target_entropy: mean(self.target_entropy),
            value: self.values.report(),
        }
    }
}

/// The chance that a move of logit `own` is among the first `rank` if ties are broken at random.
fn among(logits: &[f32], own: f32, rank: usize) -> f64 {
    let higher = logits.iter().filter(|&&x| x > own).count() as f64;
    let equal = logits.iter().filter(|&&x| x == own).count() as f64;
    // A logit that is no number is not even equal to itself, and finds nothing.
    if equal > 0.0 { ((rank as f64 - higher) / equal).clamp(0.0, 1.0) } else { 0.0 }
}

/// ln Σ exp(x), without overflow.
fn log_sum_exp(logits: &[f32]) -> f64 {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|&x| f64::from(x - highest).exp()).sum();
    f64::from(highest) + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(positions: &[(&[f32], &[f32])]) -> Answers {
        let mut tally = Tally::default();
        positions.iter().for_each(|(logits, wanted)| tally.policy(logits, wanted));
        tally.answers()
    }

    fn one_of(number: usize, i: usize) -> Vec<f32> {
        let mut wanted = vec![0.0; number];
        wanted[i] = 1.0;
        wanted
    }

    #[test]
    fn ties_share_and_ranks_count() {
        let certain = answers(&[(&[2.0, 1.0, 0.0], &[1.0, 0.0, 0.0])]);
        assert_eq!((certain.top1, certain.top10), (1.0, 1.0));
        let tied = answers(&[(&[0.0; 20], &one_of(20, 3))]);
        assert_eq!([tied.top1, tied.top3, tied.top5, tied.top10], [0.05, 0.15, 0.25, 0.5]);
        let sixth = answers(&[(&[9.0, 8.0, 7.0, 6.0, 5.0, 4.0], &one_of(6, 5))]);
        assert_eq!((sixth.top5, sixth.top10), (0.0, 1.0));
    }

    #[test]
    fn entropies_are_in_nats_and_do_not_overflow() {
        let even = answers(&[(&[300.0, 300.0], &[0.0, 1.0])]);
        assert!((even.cross_entropy - 2f64.ln()).abs() < 1e-12);
        assert!((even.policy_entropy - 2f64.ln()).abs() < 1e-12);
        assert_eq!(even.target_entropy, 0.0);
    }

    #[test]
    fn dense_targets_weigh_their_moves_and_the_most_wanted_ones_count() {
        // Probabilities ¼, ½, ¼ against targets ½, ½, 0: the first and the second are wanted.
        let logits = [0.25f32.ln(), 0.5f32.ln(), 0.25f32.ln()];
        let found = answers(&[(&logits, &[0.5, 0.5, 0.0])]);
        assert_eq!((found.top1, found.top3), (0.5, 1.0));
        let expected = 0.5 * 4f64.ln() + 0.5 * 2f64.ln();
        assert!((found.cross_entropy - expected).abs() < 1e-6);
        assert!((found.target_entropy - 2f64.ln()).abs() < 1e-12);
        assert!((found.policy_entropy - expected).abs() < 1e-6);
    }
}
