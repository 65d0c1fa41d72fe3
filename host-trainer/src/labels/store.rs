//! Labelled positions, compact in memory.
use kibitzer_core::{
    fnv,
    shakmaty::{Chess, Move, Position as _},
};

use crate::{
    library::LabelledPosition,
    records::{PackedPosition, RecordError},
};

/// Bytes of a position besides the two of each score: the packed position, the hash of its
/// opening, and where its scores end. With 33 legal moves, a middlegame's average, a position
/// takes 114.
pub const BYTES_BESIDE_SCORES: usize = size_of::<PackedPosition>() + 2 * size_of::<u64>();

/// The score of a move that was not evaluated: below every other.
pub const UNKNOWN: i16 = i16::MIN;

/// Positions with the score of every legal move, or of some.
#[derive(Debug, Default)]
pub struct Labels {
    positions: Vec<PackedPosition>,
    /// Hash of each position's opening: by it, it is held out or not.
    groups: Vec<u64>,
    /// Where each position's scores end.
    ends: Vec<u64>,
    /// Scores in centipawns from the mover's side, in the order of the legal moves; [`UNKNOWN`]
    /// where there is none.
    scores: Vec<i16>,
}

/// A position and its scores, ready to be stored.
#[derive(Debug)]
pub(super) struct Packed {
    position: PackedPosition,
    group: u64,
    scores: Vec<i16>,
}

impl Packed {
    pub(super) fn new(labelled: &LabelledPosition) -> Packed {
        let scores: Vec<(Move, i32)> = labelled.moves.iter().map(|m| (m.mv, m.score)).collect();
        // By its name an opening is held out or not.
        let group = fnv::bytes(fnv::START, labelled.opening.bytes());
        Packed::partial(&labelled.position, &scores, group)
    }

    /// A position in which some moves have scores, of a game or opening with this hash.
    pub(super) fn partial(position: &Chess, scores: &[(Move, i32)], group: u64) -> Packed {
        let score_of = |mv| scores.iter().find(|score| score.0 == mv).map(|score| score.1);
        let score = |mv| match score_of(mv) {
            // Mates are the extremes, one below them for what is worse: far within the range.
            Some(score) => i16::try_from(score).expect("labels are clamped to mates"),
            None => UNKNOWN,
        };
        let scores = position.legal_moves().into_iter().map(score).collect();
        Packed { position: PackedPosition::new(position, 0), group, scores }
    }
}

impl Labels {
    pub(super) fn push(&mut self, packed: &Packed) {
        self.positions.push(packed.position);
        self.groups.push(packed.group);
        self.scores.extend_from_slice(&packed.scores);
        self.ends.push(self.scores.len() as u64);
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Bytes that positions and scores take.
    pub fn bytes(&self) -> usize {
        self.len() * BYTES_BESIDE_SCORES + size_of_val(&self.scores[..])
    }

    /// The position of number `i`.
    ///
    /// # Errors
    /// If it was not packed by this program, which is a defect.
    pub fn position(&self, i: usize) -> Result<Chess, RecordError> {
        self.positions[i].unpack()
    }

    /// The scores of number `i` in centipawns, in the order of its legal moves: at least one that
    /// is known, and [`UNKNOWN`] for the others.
    pub fn scores(&self, i: usize) -> &[i16] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.scores[start as usize..self.ends[i] as usize]
    }

    /// Hash of the opening of number `i`.
    pub fn opening_hash(&self, i: usize) -> u64 {
        self.groups[i]
    }

    /// A digest of the positions with their openings and scores, in order.
    pub fn digest(&self) -> u64 {
        let scores =
            self.scores.iter().fold(fnv::START, |hash, score| fnv::step(hash, *score as u64));
        let positions = bytemuck::cast_slice(&self.positions).iter();
        let words = positions.chain(&self.groups);
        words.fold(scores, |hash, &word: &u64| fnv::step(hash, word))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::library;

    #[test]
    fn positions_and_scores_come_back_in_the_order_of_the_legal_moves() {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/library.jsonl.zst");
        let library = library::read(&fixture).unwrap();
        let mut labels = Labels::default();
        library.iter().take(300).for_each(|labelled| labels.push(&Packed::new(labelled)));
        for (i, labelled) in library.iter().take(300).enumerate() {
            let position = labels.position(i).unwrap();
            assert_eq!(position, labelled.position);
            let legal = position.legal_moves();
            assert_eq!(legal.len(), labels.scores(i).len());
            for (mv, &score) in legal.into_iter().zip(labels.scores(i)) {
                let label = labelled.moves.iter().find(|m| m.mv == mv).unwrap();
                assert_eq!(i32::from(score), label.score);
            }
        }
        assert_eq!(labels.bytes(), 300 * 48 + 2 * labels.scores.len());
        assert_ne!(labels.digest(), Labels::default().digest());
    }
}
