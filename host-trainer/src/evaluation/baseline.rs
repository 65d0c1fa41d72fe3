//! What needs no network: equal probabilities, and how often each move is wanted anywhere.
//!
//! The frequency of a move index (64 × 73, in the network's frame) is its target probability
//! over the positions in which it is legal: `(wanted + PRIOR · p) / (legal + PRIOR)`, with both
//! counts from the positions that it is fitted on and p the same over all moves together. A
//! position's probabilities are the frequencies of its legal moves, made to add up to one; the
//! value is the mean target. It knows the move's squares, and nothing of the position.
use anyhow::Result;
use kibitzer_core::{inputs::Perspective, moves::MOVES};
use kibitzer_gpu::{Batch, Outputs};
use rayon::prelude::*;
use serde::Serialize;

use super::{Answers, CHUNK, Tally, answer};
use crate::{
    batches,
    error::UserError,
    examples::{Examples, Held},
    network::Evaluate,
    order::Spans,
};

/// Positions that frequencies are fitted on at most: a move that is legal in a hundredth of them
/// and wanted in a hundredth of those is then known to ten per cent.
const FITTED: usize = 1_000_000;
/// Weight of the mean frequency in each one, in positions.
const PRIOR: f64 = 10.0;

/// What the baselines reach.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Baselines {
    /// Equal probabilities, value 0.
    pub uniform: Baseline,
    /// Frequencies of moves, mean value.
    pub frequency: Baseline,
}

/// What one of them reaches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Baseline {
    /// As [`Answers::top1`].
    pub top1: f64,
    /// As [`Answers::top5`].
    pub top5: f64,
    /// As [`Answers::cross_entropy`].
    pub cross_entropy: f64,
    /// Mean squared error of the value.
    pub value_mse: f64,
}

impl From<Answers> for Baseline {
    fn from(answers: Answers) -> Baseline {
        let Answers { top1, top5, cross_entropy, value, .. } = answers;
        Baseline { top1, top5, cross_entropy, value_mse: value.mse }
    }
}

/// Where frequencies come from: never from the games or openings that are predicted by them.
#[derive(Debug, Clone, Copy)]
pub enum Fitted<'a> {
    /// From the examples with these numbers.
    On(&'a Spans),
    /// From all examples: each half of the games or openings is predicted by the other.
    ByHalves,
}

/// The baselines on the examples with these `numbers`.
///
/// # Errors
/// [`UserError`] if an example is damaged.
pub fn baselines(
    perspective: Perspective,
    examples: &dyn Examples,
    numbers: &[u32],
    fitted: Fitted<'_>,
) -> Result<Baselines> {
    let mut uniform = Tally::default();
    answer(&mut Uniform, perspective, examples, numbers, &mut uniform, |_| {})?;
    let mut frequency = Tally::default();
    let mut predict = |on: &Spans, numbers: &[u32]| {
        let mut fitted = Frequencies::fit(perspective, examples, on)?;
        answer(&mut fitted, perspective, examples, numbers, &mut frequency, |_| {})
    };
    match fitted {
        Fitted::On(on) => predict(on, numbers)?,
        Fitted::ByHalves => {
            let halves = Held::new(examples, 0.5);
            let (one, other): (Vec<u32>, Vec<u32>) =
                numbers.iter().partition(|&&number| examples.is_held_out(number, 0.5));
            predict(&halves.training, &one)?;
            predict(&halves.out, &other)?;
        }
    }
    Ok(Baselines { uniform: uniform.answers().into(), frequency: frequency.answers().into() })
}

/// Equal probabilities.
struct Uniform;

impl Evaluate for Uniform {
    fn evaluate(&mut self, batch: &Batch) -> Result<Outputs> {
        let values = vec![0.0; batch.positions()];
        Ok(Outputs { logits: vec![0.0; batch.legal.len()], values })
    }
}

/// Frequencies by move index.
struct Frequencies {
    /// Logarithm of the frequency by move index.
    logits: Vec<f32>,
    /// The mean target.
    value: f32,
}

impl Frequencies {
    fn fit(
        perspective: Perspective,
        examples: &dyn Examples,
        numbers: &Spans,
    ) -> Result<Frequencies, UserError> {
        let numbers = numbers.evenly(FITTED);
        let chunks = numbers.par_chunks(16 * CHUNK);
        let counted = chunks.map(|chunk| Counts::of(perspective, examples, chunk));
        let counted: Vec<Counts> = counted.collect::<Result<_, _>>()?;
        // In order, so that the sums do not depend on the threads.
        let total = counted.into_iter().fold(Counts::default(), Counts::plus);
        let legal: f64 = total.legal.iter().sum();
        let mean = total.positions.max(1.0) / legal.max(1.0);
        let counts = total.wanted.iter().zip(&total.legal);
        let logit =
            |(wanted, legal): (&f64, &f64)| ((wanted + PRIOR * mean) / (legal + PRIOR)).ln() as f32;
        let logits = counts.map(logit).collect();
        Ok(Frequencies { logits, value: (total.values / total.positions.max(1.0)) as f32 })
    }
}

impl Evaluate for Frequencies {
    fn evaluate(&mut self, batch: &Batch) -> Result<Outputs> {
        let logits = batch.legal.iter().map(|&index| self.logits[usize::from(index)]).collect();
        Ok(Outputs { logits, values: vec![self.value; batch.positions()] })
    }
}

struct Counts {
    /// Target probability by move index.
    wanted: Vec<f64>,
    /// Positions in which it is legal.
    legal: Vec<f64>,
    values: f64,
    positions: f64,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts { wanted: vec![0.0; MOVES], legal: vec![0.0; MOVES], values: 0.0, positions: 0.0 }
    }
}

impl Counts {
    fn of(
        perspective: Perspective,
        examples: &dyn Examples,
        numbers: &[u32],
    ) -> Result<Counts, UserError> {
        let mut batch = batches::with_capacity(numbers.len());
        for &number in numbers {
            examples.push(&mut batch, number, perspective)?;
        }
        let mut counts = Counts::default();
        for (&index, &q) in batch.legal.iter().zip(&batch.target_policy) {
            counts.wanted[usize::from(index)] += f64::from(q);
            counts.legal[usize::from(index)] += 1.0;
        }
        counts.values = batch.target_value.iter().map(|&v| f64::from(v)).sum();
        counts.positions = batch.positions() as f64;
        Ok(counts)
    }

    fn plus(mut self, other: Counts) -> Counts {
        self.wanted.iter_mut().zip(other.wanted).for_each(|(sum, count)| *sum += count);
        self.legal.iter_mut().zip(other.legal).for_each(|(sum, count)| *sum += count);
        self.values += other.values;
        self.positions += other.positions;
        self
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use kibitzer_core::shakmaty::{Chess, Position as _};

    use super::*;
    use crate::{
        network::uci,
        records::{Record, Records},
    };

    /// Two games of the start position, won by e2e4, of hashes in different halves.
    fn examples() -> Records {
        let start = Chess::default();
        let legal = start.legal_moves();
        let e4 = *legal.iter().find(|&&mv| uci(mv) == "e2e4").unwrap();
        let record = |game_hash: u64| {
            let mut record = Record::new(&start, e4, 0).with_result(1);
            record.game_hash = game_hash;
            record
        };
        let halves = [true, false].map(|side| {
            (1..100).find(|&hash| record(hash).is_held_out(0.5) == side).expect("both halves")
        });
        Records::in_memory(Path::new("games"), halves.map(record).to_vec())
    }

    #[test]
    fn frequencies_of_the_other_half_predict_and_never_one_s_own() {
        let examples = examples();
        let of = |numbers: &[u32], fitted: Fitted<'_>| {
            baselines(Perspective::Mover, &examples, numbers, fitted).unwrap()
        };
        let found = of(&[0, 1], Fitted::ByHalves);
        // Wanted once where twenty moves are legal: 1.5 for e2e4 and 0.5 for each other.
        assert!((found.frequency.cross_entropy - (11f64 / 1.5).ln()).abs() < 1e-6);
        assert_eq!((found.frequency.top1, found.frequency.value_mse), (1.0, 0.0));
        assert!((found.uniform.cross_entropy - 20f64.ln()).abs() < 1e-6);
        assert_eq!((found.uniform.top1, found.uniform.top5), (0.05, 0.25));
        // Without any other game there is nothing to be predicted by.
        let alone = of(&[0], Fitted::On(&Spans::default()));
        assert!((alone.frequency.cross_entropy - 20f64.ln()).abs() < 1e-6);
        assert_eq!(alone.frequency.value_mse, 1.0);
        // Wanted twice of two: 2.5 and 0.5.
        let both = of(&[0], Fitted::On(&Spans::from_iter([0, 1])));
        assert!((both.frequency.cross_entropy - (12f64 / 2.5).ln()).abs() < 1e-6);
    }
}
