//! How well a network predicts what it has not seen.
//!
//! | file | holds |
//! | --- | --- |
//! | `tally.rs` | sums over positions: moves, and what is reported of them |
//! | `values.rs` | the same of values: correlation, error, calibration |
//! | `baseline.rs` | what needs no network: equal probabilities, frequencies of moves |
//! | `material.rs` | positions that differ by a piece |
//! | `ordering.rs` | whether values order them |
mod baseline;
mod material;
mod ordering;
mod tally;
mod values;

use anyhow::Result;
pub use baseline::{Baseline, Baselines, Fitted, baselines};
use kibitzer_core::inputs::Perspective;
pub use material::{Case, Change, KINDS, ROLES, cases};
pub use ordering::{Changes, MaterialReport, Pieces, Rate, material_order};
use serde::Serialize;
pub use tally::{Answers, Tally};
pub use values::{Bin, ValueReport};

use crate::{batches, examples::Examples, network::Evaluate, order::evenly_spaced};

/// Positions evaluated at once.
pub const CHUNK: usize = 256;

/// What `eval` and a validation during training report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Moves and values against their targets.
    #[serde(flatten)]
    pub answers: Answers,
    /// The material test.
    pub material: MaterialReport,
}

/// Evaluates `network` on the examples with these `numbers`, and the order of its values on
/// changes of material in at most `material` of their positions.
///
/// # Errors
/// [`crate::error::UserError`] if an example is damaged; others if the device fails.
pub fn evaluate(
    network: &mut dyn Evaluate,
    perspective: Perspective,
    examples: &dyn Examples,
    numbers: &[u32],
    material: usize,
    progress: impl FnMut(usize),
) -> Result<Report> {
    let mut tally = Tally::default();
    answer(network, perspective, examples, numbers, &mut tally, progress)?;
    let material = material_order(network, perspective, examples, numbers, material)?;
    Ok(Report { answers: tally.answers(), material })
}

/// Adds to `tally` what `network` says of the examples with these `numbers`.
///
/// # Errors
/// [`crate::error::UserError`] if an example is damaged; others if the device fails.
pub fn answer(
    network: &mut dyn Evaluate,
    perspective: Perspective,
    examples: &dyn Examples,
    numbers: &[u32],
    tally: &mut Tally,
    mut progress: impl FnMut(usize),
) -> Result<()> {
    for chunk in numbers.chunks(CHUNK) {
        let mut batch = batches::with_capacity(chunk.len());
        for &number in chunk {
            examples.push(&mut batch, number, perspective)?;
        }
        tally.add(&batch, &network.evaluate(&batch)?);
        progress(chunk.len());
    }
    Ok(())
}

/// At most `limit` of the items, evenly spaced.
pub fn evenly<T: Copy>(items: &[T], limit: usize) -> impl Iterator<Item = T> + '_ {
    evenly_spaced(items.len(), limit).map(|place| items[place])
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
