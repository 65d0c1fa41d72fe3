//! What a network learns from and is measured on, wherever it comes from: positions with targets.
use kibitzer_core::{inputs::Perspective, shakmaty::Chess};
use kibitzer_gpu::Batch;
use serde::{Deserialize, Serialize};

use crate::{bands::Band, error::UserError, order::Spans};

/// Positions with their targets, numbered from 0.
pub trait Examples: Send + Sync {
    /// Number of examples, at least 1.
    fn count(&self) -> u32;

    /// The position of an example.
    ///
    /// # Errors
    /// [`UserError`] naming the file if it is damaged.
    fn position(&self, number: u32) -> Result<Chess, UserError>;

    /// Whether an example is held out of training when `share` (0 to 1) of the groups is: the
    /// examples of one game, or of one opening, are held out together.
    fn is_held_out(&self, number: u32, share: f64) -> bool;

    /// The band of an example's position: see [`Band`].
    ///
    /// # Errors
    /// [`UserError`] naming the file if it is damaged.
    fn band(&self, number: u32) -> Result<Band, UserError>;

    /// Adds an example to a batch: its position, all legal moves, the wanted probability of each
    /// of them and the wanted value.
    ///
    /// # Errors
    /// [`UserError`] naming the file if it is damaged; the batch is then unchanged.
    fn push(
        &self,
        batch: &mut Batch,
        number: u32,
        perspective: Perspective,
    ) -> Result<(), UserError>;

    /// What names the examples and their targets: a run that goes on needs the same.
    fn name(&self) -> ExamplesName;

    /// The share that is held out, if that is settled already: [`Examples::is_held_out`] then
    /// heeds no other.
    fn fixed_share(&self) -> Option<f64> {
        None
    }

    /// Where they come from, for messages.
    fn place(&self) -> String;
}

impl dyn Examples + '_ {
    /// The share of the groups that is held out if `wanted` is asked for, or else `default`.
    ///
    /// # Errors
    /// [`UserError`] if another share is settled.
    pub fn share(&self, wanted: Option<f64>, default: f64) -> Result<f64, UserError> {
        match (self.fixed_share(), wanted) {
            (Some(fixed), Some(wanted)) if fixed != wanted => {
                let what = format!("a share of {wanted} where {fixed} was held out in packing");
                let mend = "leave the share out, or pack the games again with --held-out";
                Err(UserError::new(what, self.place(), mend))
            }
            (Some(fixed), _) => Ok(fixed),
            (None, wanted) => Ok(wanted.unwrap_or(default)),
        }
    }
}

/// Names examples by their content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExamplesName {
    /// Digest of positions and targets, 16 hexadecimal digits.
    pub fingerprint: String,
    /// Number of positions.
    pub positions: u32,
    /// What the targets are, in words.
    pub targets: String,
}

impl ExamplesName {
    /// A name from a digest.
    pub fn new(fingerprint: u64, positions: u32, targets: impl Into<String>) -> ExamplesName {
        let fingerprint = format!("{fingerprint:016x}");
        ExamplesName { fingerprint, positions, targets: targets.into() }
    }
}

/// Which examples are held out, and which are for training.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Numbers of the examples held out.
    pub out: Spans,
    /// Numbers of all others.
    pub training: Spans,
}

impl Held {
    /// Splits the examples by game or opening.
    pub fn new(examples: &dyn Examples, share: f64) -> Held {
        let (out, training) =
            (0..examples.count()).partition(|&number| examples.is_held_out(number, share));
        Held { out, training }
    }
}
