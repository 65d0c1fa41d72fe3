//! What an evaluation answers.
use core::cmp::Reverse;

use heapless::Vec;
use shakmaty::{Chess, Move, Position as _};

use super::{
    curves::VALUE_FRACTION,
    softmax::{self, PROBABILITY_ONE},
};
use crate::{
    fnv,
    inputs::{Frame, Perspective},
    insertion, legal,
    moves::{MAX_LEGAL, MoveIndex},
};

/// Fraction bits of a logit.
pub const LOGIT_FRACTION: u32 = 16;

/// A legal move and what the network says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ScoredMove {
    /// The move.
    #[cfg_attr(feature = "defmt", defmt(Display2Format))]
    pub mv: Move,
    /// Its index, as the network sees it.
    pub index: MoveIndex,
    /// Its logit, in [`LOGIT_FRACTION`] bits.
    pub logit: i32,
    /// Its probability among the legal moves, in units of 1/[`PROBABILITY_ONE`].
    pub probability: u32,
}

/// A position's legal moves and value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Evaluation {
    #[cfg_attr(feature = "defmt", defmt(Debug2Format))]
    moves: Vec<ScoredMove, MAX_LEGAL>,
    value: i16,
}

impl Evaluation {
    /// Starts over with the legal moves of `position`, unscored.
    pub(super) fn start(&mut self, position: &Chess, perspective: Perspective) {
        let frame = Frame::new(perspective, position.turn());
        self.value = 0;
        self.moves.clear();
        legal::for_each(position, |mv| {
            let index = MoveIndex::new(mv, frame);
            // More than there is room for no position has.
            let _ = self.moves.push(ScoredMove { mv, index, logit: 0, probability: 0 });
        });
    }

    /// Fills in the value and the probabilities that follow from the logits, and puts the best
    /// move first; of equals, the one with the smaller index.
    pub(super) fn finish(&mut self, value: i16) {
        self.value = value;
        insertion::sort_by_key(&mut self.moves, |m| (Reverse(m.logit), m.index));
        let total = softmax::Total::of(self.moves.iter().map(|m| m.logit));
        for scored in &mut self.moves {
            scored.probability = total.probability(scored.logit);
        }
    }

    /// Every legal move, best first.
    pub fn moves(&self) -> &[ScoredMove] {
        &self.moves
    }

    /// The expected result for the side to move, from −32,767 (lost) to 32,767 (won).
    pub const fn value(&self) -> i16 {
        self.value
    }

    /// A digest of the value and of each move's index and logit: chips whose digests are equal
    /// have computed the same.
    pub fn digest(&self) -> u64 {
        let value = fnv::step(fnv::START, u64::from(self.value.cast_unsigned()));
        self.moves.iter().fold(value, |digest, scored| {
            let index = scored.index.to_usize() as u64;
            fnv::step(fnv::step(digest, index), scored.logit.cast_unsigned().into())
        })
    }

    /// What [`Evaluation::value`] counts as one.
    pub const VALUE_ONE: i32 = 1 << VALUE_FRACTION;
    /// What [`ScoredMove::probability`] counts as one.
    pub const PROBABILITY_ONE: u32 = PROBABILITY_ONE;
    /// What [`ScoredMove::logit`] counts as one.
    pub const LOGIT_ONE: i32 = 1 << LOGIT_FRACTION;
}

/// Moves that are to be scored.
pub trait Scored {
    /// Goes through the moves: an index, and where its logit goes.
    fn each(&mut self, visit: &mut dyn FnMut(MoveIndex, &mut i32));
}

impl Scored for Evaluation {
    fn each(&mut self, visit: &mut dyn FnMut(MoveIndex, &mut i32)) {
        self.moves.iter_mut().for_each(|scored| visit(scored.index, &mut scored.logit));
    }
}

/// Indices, and a logit for each.
pub struct Indexed<'a> {
    pub moves: &'a [MoveIndex],
    pub logits: &'a mut [i32],
}

impl Scored for Indexed<'_> {
    fn each(&mut self, visit: &mut dyn FnMut(MoveIndex, &mut i32)) {
        self.moves.iter().zip(&mut *self.logits).for_each(|(&index, logit)| visit(index, logit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_tells_what_differs() {
        let mut evaluation = Evaluation::default();
        let mut logits = [0; MAX_LEGAL];
        let mut digest = |logits: &[i32], value| {
            evaluation.start(&Chess::default(), Perspective::Mover);
            let logits = &mut logits.iter();
            evaluation.each(&mut |_, logit| *logit = *logits.next().expect("as many"));
            evaluation.finish(value);
            evaluation.digest()
        };
        let before = digest(&logits, 7);
        assert_eq!(digest(&logits, 7), before);
        assert_ne!(digest(&logits, -7), before);
        logits[19] = -1;
        assert_ne!(digest(&logits, 7), before);
    }
}
