//! Labelled positions as the fits read them.
use kibitzer_core::{
    shakmaty::Position as _,
    viveka::{TERM_COUNT, phase},
};

use super::{Row, column::share_gone, openings, targets};

/// One position: the terms' values of its moves, and what a fit wants of them.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Probability that each move should have; they sum to 1.
    pub targets: Vec<f64>,
    /// What each move loses, in centipawns.
    pub losses: Vec<i32>,
    /// Fold of its opening.
    pub fold: usize,
    /// Values, column after column: (columns, moves).
    values: Vec<f32>,
}

impl Sample {
    /// The positions of `rows`; their folds follow from `openings`, sorted names.
    pub fn all(rows: &[Row], openings: &[String]) -> Vec<Sample> {
        let sample = |&(labelled, features): &Row| {
            let value = |term: usize| features.moves.iter().map(move |v| f32::from(v[term]));
            let gone = share_gone(phase(labelled.position.board()));
            let level = (0..TERM_COUNT).flat_map(value);
            let endgame = (0..TERM_COUNT).flat_map(value).map(|x| x * gone);
            Sample {
                targets: targets(labelled),
                losses: (0..labelled.moves.len()).map(|i| labelled.loss(i)).collect(),
                fold: openings::fold(openings, &labelled.opening),
                values: level.chain(endgame).collect(),
            }
        };
        rows.iter().map(sample).collect()
    }

    /// Number of moves.
    pub fn moves(&self) -> usize {
        self.targets.len()
    }

    /// Values of a [column](super::column), one a move.
    pub fn column(&self, column: usize) -> &[f32] {
        &self.values[column * self.moves()..][..self.moves()]
    }

    /// `Σ wᵢ·xᵢ` of each move, over `columns` with these weights.
    pub fn scores(&self, columns: &[usize], weights: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.moves()];
        for (&column, &weight) in columns.iter().zip(weights) {
            for (score, &x) in scores.iter_mut().zip(self.column(column)) {
                *score += weight * f64::from(x);
            }
        }
        scores
    }
}

#[cfg(test)]
impl Sample {
    /// A sample of `columns`, the values of each, in fold 0.
    pub fn new(columns: &[Vec<f32>], targets: Vec<f64>, losses: Vec<i32>) -> Sample {
        Sample { targets, losses, fold: 0, values: columns.concat() }
    }

    /// `count` samples of six moves with random values, chosen among by the `truth`: columns and
    /// their weights. Half the pieces are gone in every other one.
    pub fn chosen_by(count: usize, truth: &[(usize, f64)]) -> Vec<Sample> {
        use super::{logit, openings::FOLDS};
        use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let (terms, weights): (Vec<usize>, Vec<f64>) = truth.iter().copied().unzip();
        let sample = |number: usize| {
            let column = |_| (0..6).map(|_| random.random_range(-3_i32..=3) as f32).collect();
            let level: Vec<Vec<f32>> = (0..TERM_COUNT).map(column).collect();
            let gone = (number % 2) as f32 / 2.0;
            let endgame = level.iter().map(|values| values.iter().map(|x| x * gone).collect());
            let columns: Vec<Vec<f32>> = level.iter().cloned().chain(endgame).collect();
            let mut sample = Sample::new(&columns, vec![0.0; 6], vec![0; 6]);
            let scores = sample.scores(&terms, &weights);
            let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            sample.losses = scores.iter().map(|score| ((best - score) * 100.0) as i32).collect();
            sample.targets = logit::softmax(&scores);
            sample.fold = number % FOLDS;
            sample
        };
        (0..count).map(sample).collect()
    }
}
