//! How well a network predicts the games it has not seen.
mod material;
mod tally;

use anyhow::Result;
use kibitzer_core::inputs::Perspective;
pub use material::Pair;
use serde::Serialize;
use tally::Tally;

use crate::{batches, examples::Examples, network::Evaluate};

/// Positions evaluated at once.
pub const CHUNK: usize = 256;

/// What `eval` reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Positions evaluated.
    pub positions: usize,
    /// Share of positions in which the wanted move, the most probable of the targets, has the
    /// highest probability; equal probabilities share, and so do equally wanted moves.
    pub top1: f64,
    /// Share in which it is among the five highest.
    pub top5: f64,
    /// Cross-entropy of the targets over the legal moves, nats.
    pub cross_entropy: f64,
    /// The value against its target, both from the mover's side.
    pub value: ValueReport,
    /// The material test.
    pub material: MaterialReport,
}

/// The value head against the results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ValueReport {
    /// Pearson's correlation; null where either side does not vary.
    pub correlation: f64,
    /// Expected calibration error: ten equal bins of the value, the mean distance between mean
    /// value and mean result, weighted by the positions in them.
    pub ece: f64,
    /// Mean squared error.
    pub mse: f64,
}

/// The material test: each pair is a position without one of the mover's pieces and the same
/// position without the opponent's piece of that kind. The second must have the higher value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MaterialReport {
    /// Pairs tried.
    pub pairs: usize,
    /// Share of them in the right order; null without pairs.
    pub pass_rate: f64,
}

/// Evaluates `network` on the examples with these `numbers`, and on material pairs made of at
/// most `pairs` of them.
///
/// # Errors
/// [`crate::error::UserError`] if an example is damaged; others if the device fails.
pub fn evaluate(
    network: &mut dyn Evaluate,
    perspective: Perspective,
    examples: &dyn Examples,
    numbers: &[u32],
    pairs: usize,
    mut progress: impl FnMut(usize),
) -> Result<Report> {
    let mut tally = Tally::default();
    for chunk in numbers.chunks(CHUNK) {
        let mut batch = batches::with_capacity(chunk.len());
        for &number in chunk {
            examples.push(&mut batch, number, perspective)?;
        }
        tally.add(&batch, &network.evaluate(&batch)?);
        progress(chunk.len());
    }
    let material = material_test(network, perspective, examples, numbers, pairs)?;
    Ok(tally.report(material))
}

fn material_test(
    network: &mut dyn Evaluate,
    perspective: Perspective,
    examples: &dyn Examples,
    numbers: &[u32],
    limit: usize,
) -> Result<MaterialReport> {
    let mut pairs = Vec::new();
    for (i, number) in evenly(numbers, limit).enumerate() {
        let position = examples.position(number)?;
        pairs.extend(Pair::of(&position, i));
    }
    let mut passed = 0;
    for chunk in pairs.chunks(CHUNK / 2) {
        let mut batch = batches::with_capacity(2 * chunk.len());
        for pair in chunk {
            batches::push_for_value(&mut batch, &pair.piece_down, perspective);
            batches::push_for_value(&mut batch, &pair.piece_up, perspective);
        }
        let values = network.evaluate(&batch)?.values;
        passed += values.chunks_exact(2).filter(|pair| pair[1] > pair[0]).count();
    }
    let pass_rate = passed as f64 / pairs.len() as f64;
    Ok(MaterialReport { pairs: pairs.len(), pass_rate })
}

/// At most `limit` of the items, evenly spaced.
pub fn evenly<T: Copy>(items: &[T], limit: usize) -> impl Iterator<Item = T> + '_ {
    let count = items.len().min(limit);
    (0..count).map(move |i| items[i * items.len() / count])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evenly_takes_the_asked_number_from_everywhere() {
        let items: Vec<usize> = (0..10).collect();
        assert_eq!(evenly(&items, 5).collect::<Vec<_>>(), [0, 2, 4, 6, 8]);
        assert_eq!(evenly(&items, 50).count(), 10);
        assert_eq!(evenly(&items, 0).count(), 0);
    }
}
