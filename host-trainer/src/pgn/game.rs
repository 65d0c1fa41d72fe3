//! One game as it was read.
use kibitzer_core::shakmaty::Color;

use super::tags::Tags;
use crate::records::{PackedPosition, Played, Record};

/// A position of a game and the move played in it.
#[derive(Debug, Clone)]
pub struct Step {
    /// The position's name: see [`positions::key`].
    pub key: u128,
    /// The position.
    pub packed: PackedPosition,
    /// The move played.
    pub played: Played,
    /// What is said of the move, where comments are asked for.
    pub comment: String,
}

/// A whole game, as it was read.
#[derive(Debug)]
pub struct Game<'a> {
    /// Hash of its start and moves: equal games have equal hashes.
    pub hash: u64,
    /// Who won.
    pub winner: Option<Color>,
    /// Its tags.
    pub tags: &'a Tags,
    /// Its positions, those that are wanted.
    pub steps: &'a [Step],
}

impl Game<'_> {
    /// Its positions as records.
    pub fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.steps.iter().map(|step| {
            let turn = step.packed.turn();
            let result = self.winner.map_or(0, |winner| if winner == turn { 1 } else { -1 });
            Record::of(step.packed, step.played, self.hash).with_result(result)
        })
    }
}
