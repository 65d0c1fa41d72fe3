//! Labelled positions as the fits read them.
use kibitzer_core::viveka::TERM_COUNT;

use super::{Row, openings};
use crate::library::LabelledPosition;

/// One position: the terms' values of its moves, and what a fit wants of them.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Probability that each move should have; they sum to 1.
    pub targets: Vec<f64>,
    /// What each move loses, in centipawns.
    pub losses: Vec<i32>,
    /// Fold of its opening.
    pub fold: usize,
    /// Values, term after term: (terms, moves).
    values: Vec<f32>,
}

/// How much probability each move of a position should have.
pub type Targets = fn(&LabelledPosition) -> Vec<f64>;

impl Sample {
    /// The positions of `rows`; their folds follow from `openings`, sorted names.
    pub fn all(rows: &[Row], openings: &[String], targets: Targets) -> Vec<Sample> {
        let sample = |&(labelled, features): &Row| {
            let column = |term: usize| features.moves.iter().map(move |v| f32::from(v[term]));
            Sample {
                targets: targets(labelled),
                losses: (0..labelled.moves.len()).map(|i| labelled.loss(i)).collect(),
                fold: openings::fold(openings, &labelled.opening),
                values: (0..TERM_COUNT).flat_map(column).collect(),
            }
        };
        rows.iter().map(sample).collect()
    }

    /// A sample of `columns`, the values of each term, in fold 0.
    pub fn new(columns: &[Vec<f32>], targets: Vec<f64>, losses: Vec<i32>) -> Sample {
        Sample { targets, losses, fold: 0, values: columns.concat() }
    }

    /// Number of moves.
    pub fn moves(&self) -> usize {
        self.targets.len()
    }

    /// Values of term number `term`, one a move.
    pub fn column(&self, term: usize) -> &[f32] {
        &self.values[term * self.moves()..][..self.moves()]
    }

    /// `Σ wᵢ·xᵢ` of each move, over the terms `columns` with these weights.
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
