//! How much the targets prefer one move to another.
use std::fmt;

use rayon::prelude::*;
use serde::Serialize;

use super::{Labels, Target, UNKNOWN};

/// Targets are refused as flat if they tell less than this share of what one certain move in
/// each position would tell: see [`Sharpness::information`].
pub const FLAT: f64 = 0.1;

/// Means over the positions with a choice, those of two moves with scores or more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sharpness {
    /// Positions with a choice.
    pub positions: usize,
    /// Entropy of the targets, nats: what no network's cross-entropy can be below.
    pub entropy: f64,
    /// Entropy of equal probabilities over the same moves, nats: all legal ones, or the best.
    pub uniform_entropy: f64,
    /// Probability of the most wanted move.
    pub best_share: f64,
    /// The same of equal probabilities.
    pub uniform_best_share: f64,
}

impl Sharpness {
    /// Measures the targets of the labels with these numbers.
    pub fn measure(labels: &Labels, target: &Target, numbers: &[u32]) -> Sharpness {
        // By chunks in a fixed order, so that the sums do not depend on the threads.
        let sums: Vec<Sums> = numbers
            .par_chunks(4096)
            .map(|chunk| {
                let mut sums = Sums::default();
                chunk.iter().for_each(|&i| sums.add(labels.scores(i as usize), target));
                sums
            })
            .collect();
        let total = sums.into_iter().fold(Sums::default(), Sums::plus);
        let mean = |sum: f64| sum / total.positions.max(1) as f64;
        Sharpness {
            positions: total.positions,
            entropy: mean(total.entropy),
            uniform_entropy: mean(total.uniform_entropy),
            best_share: mean(total.best_share),
            uniform_best_share: mean(total.uniform_best_share),
        }
    }

    /// Moves that are as good as equally probable: the exponential of the entropy.
    pub fn effective_moves(&self) -> f64 {
        self.entropy.exp()
    }

    /// The same of equal probabilities.
    pub fn uniform_moves(&self) -> f64 {
        self.uniform_entropy.exp()
    }

    /// What the targets tell of what one certain move would: the share of the uniform entropy
    /// that they take away, 1 for one certain move and 0 for equal probabilities. NaN where no
    /// position has a choice.
    pub fn information(&self) -> f64 {
        1.0 - self.entropy / self.uniform_entropy
    }

    /// Whether there is next to nothing to learn: equal probabilities are then within [`FLAT`] of
    /// the lowest cross-entropy that can be reached, and the gradient is mostly the noise of the
    /// engine's scores.
    pub fn is_flat(&self) -> bool {
        self.information() < FLAT
    }
}

impl fmt::Display for Sharpness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.positions == 0 {
            return f.write_str("one move in each position, which is wanted with certainty");
        }
        let Sharpness { entropy, uniform_entropy, best_share, uniform_best_share, .. } = self;
        write!(
            f,
            "entropy {entropy:.3} nats (uniform {uniform_entropy:.3}), effective moves {:.2} \
             (uniform {:.1}), best move's share {:.1} % (uniform {:.1} %), information {:.1} %",
            self.effective_moves(),
            self.uniform_moves(),
            100.0 * best_share,
            100.0 * uniform_best_share,
            100.0 * self.information(),
        )
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    positions: usize,
    entropy: f64,
    uniform_entropy: f64,
    best_share: f64,
    uniform_best_share: f64,
}

impl Sums {
    fn add(&mut self, scores: &[i16], target: &Target) {
        if scores.iter().filter(|&&score| score != UNKNOWN).count() < 2 {
            return;
        }
        let mut best = 0.0;
        for q in target.policy(scores).filter(|&q| q > 0.0) {
            self.entropy -= q * q.ln();
            best = q.max(best);
        }
        let moves = target.chosen(scores) as f64;
        self.positions += 1;
        self.uniform_entropy += moves.ln();
        self.best_share += best;
        self.uniform_best_share += 1.0 / moves;
    }

    fn plus(self, other: Sums) -> Sums {
        Sums {
            positions: self.positions + other.positions,
            entropy: self.entropy + other.entropy,
            uniform_entropy: self.uniform_entropy + other.uniform_entropy,
            best_share: self.best_share + other.best_share,
            uniform_best_share: self.uniform_best_share + other.uniform_best_share,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::labels::{Choice, read};

    fn measure(temperature: f64, choice: Choice) -> Sharpness {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/library.jsonl.zst");
        let labels = read(&[fixture], None).unwrap().labels;
        let numbers: Vec<u32> = (0..500).collect();
        Sharpness::measure(&labels, &Target::new(temperature, choice).unwrap(), &numbers)
    }

    #[test]
    fn hotter_targets_are_flatter_and_the_default_is_sharp() {
        let default = measure(crate::labels::TEMPERATURE, Choice::All);
        assert!(!default.is_flat(), "{default}");
        assert!((2.0..8.0).contains(&default.effective_moves()), "{default}");
        let hot = measure(1.0, Choice::All);
        assert!(hot.is_flat() && hot.entropy > default.entropy, "{hot}");
        // Eight moves that are alike are as flat as thirty, though they leave others out.
        let eight = measure(1.0, Choice::Best(8));
        assert!(eight.is_flat(), "{eight}");
        assert!((eight.uniform_moves() - 8.0).abs() < 0.5, "{eight}");
        let cold = measure(1e-4, Choice::All);
        assert!(cold.information() > 0.9 && cold.best_share > 0.9, "{cold}");
    }
}
