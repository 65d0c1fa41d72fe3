//! Which positions calibrate, and which test.
use std::collections::{BTreeSet, HashSet};

use anyhow::Result;
use kibitzer_core::inputs::{AUX, Inputs, Perspective, SQUARES};
use kibitzer_gpu::Batch;

use super::calibration::CHUNK;
use crate::{
    batches,
    order::Permutation,
    records::{Record, RecordError},
};

/// Seed of the order in which positions are looked at.
const SEED: u64 = 1;

/// Two sets of positions that have none in common, as the network sees them, from games that
/// training holds out.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// From one half of the games.
    pub calibration: Vec<Batch>,
    /// From the other half.
    pub test: Vec<Batch>,
    /// The records of the test, in its order.
    pub tested: Vec<Record>,
}

/// How many positions are wanted of each set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// For calibration.
    pub calibration: usize,
    /// For the test.
    pub test: usize,
}

impl Selection {
    /// Chooses distinct positions by chance, always the same; fewer than wanted if there are no
    /// more. `share` of the games are held out; by the order of their hashes, every other one
    /// calibrates.
    ///
    /// # Errors
    /// [`RecordError`] if a record is damaged.
    pub fn new(
        records: &[Record],
        share: f64,
        perspective: Perspective,
        wanted: Wanted,
    ) -> Result<Selection> {
        let held_out: Vec<&Record> =
            records.iter().filter(|record| record.is_held_out(share)).collect();
        let games: BTreeSet<u64> = held_out.iter().map(|record| record.game_hash).collect();
        let calibrating: HashSet<u64> = games.into_iter().step_by(2).collect();
        let (calibrating, testing): (Vec<&Record>, Vec<&Record>) =
            held_out.into_iter().partition(|record| calibrating.contains(&record.game_hash));
        let mut chooser = Chooser { perspective, seen: HashSet::new() };
        let calibration = chooser.choose(&calibrating, wanted.calibration)?;
        let tested = chooser.choose(&testing, wanted.test)?;
        let batches = |chosen: &[&Record]| batches::of_records(chosen, perspective, CHUNK);
        Ok(Selection {
            calibration: batches(&calibration)?,
            test: batches(&tested)?,
            tested: tested.into_iter().copied().collect(),
        })
    }
}

/// Number of positions in batches.
pub fn positions(batches: &[Batch]) -> usize {
    batches.iter().map(Batch::positions).sum()
}

struct Chooser {
    perspective: Perspective,
    seen: HashSet<([u8; SQUARES], [i8; AUX])>,
}

impl Chooser {
    /// Records of positions that were not seen before.
    fn choose<'r>(
        &mut self,
        records: &[&'r Record],
        wanted: usize,
    ) -> Result<Vec<&'r Record>, RecordError> {
        let mut chosen = Vec::new();
        if records.is_empty() {
            return Ok(chosen);
        }
        let order = Permutation::new(records.len() as u64, SEED, 0);
        for index in 0..records.len() as u64 {
            if chosen.len() == wanted {
                break;
            }
            let record = records[order.at(index) as usize];
            let inputs = Inputs::new(&record.position()?, self.perspective);
            if self.seen.insert((inputs.tokens, inputs.aux)) {
                chosen.push(record);
            }
        }
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests {
    use kibitzer_core::{
        position::parse_fen,
        shakmaty::{Chess, Position as _},
    };

    use super::*;

    /// Games of different hashes that all start alike.
    fn records() -> Vec<Record> {
        let mut records = Vec::new();
        for game in 0..200u64 {
            let mut position = Chess::default();
            for ply in 0..12 {
                let legal = position.legal_moves();
                let mv = legal[(game as usize * ply * 7 + ply) % legal.len()];
                let mut record = Record::new(&position, mv, ply);
                record.game_hash = game.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                records.push(record);
                position.play_unchecked(mv);
            }
        }
        records
    }

    fn keys(batches: &[Batch]) -> Vec<(Vec<u8>, Vec<u32>)> {
        let of = |batch: &Batch| {
            let tokens = batch.tokens.chunks(SQUARES).map(<[u8]>::to_vec);
            let aux = batch.aux.chunks(AUX).map(|row| row.iter().map(|x| x.to_bits()).collect());
            tokens.zip(aux).collect::<Vec<_>>()
        };
        batches.iter().flat_map(of).collect()
    }

    #[test]
    fn no_position_is_chosen_twice() {
        let wanted = Wanted { calibration: 200, test: 100 };
        let records = records();
        let selection = Selection::new(&records, 0.3, Perspective::Mover, wanted).unwrap();
        let (calibration, test) = (keys(&selection.calibration), keys(&selection.test));
        assert_eq!((calibration.len(), test.len()), (200, 100));
        assert_eq!((positions(&selection.calibration), positions(&selection.test)), (200, 100));
        let distinct: HashSet<_> = calibration.iter().chain(&test).collect();
        assert_eq!(distinct.len(), 300);
        assert!(selection.calibration.iter().all(|batch| batch.positions() <= CHUNK));
        assert!(selection.tested.iter().all(|record| record.is_held_out(0.3)));
        // Of a game that calibrates, nothing is tested: of the held-out games, ordered by their
        // hashes, it is every other one.
        let games: BTreeSet<u64> =
            records.iter().filter(|r| r.is_held_out(0.3)).map(|r| r.game_hash).collect();
        let testing: HashSet<u64> = games.into_iter().skip(1).step_by(2).collect();
        assert!(selection.tested.iter().all(|record| testing.contains(&record.game_hash)));
    }

    #[test]
    fn too_few_are_all_taken_once() {
        let position = parse_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1").unwrap();
        let record = |game_hash| {
            let mut record = Record::new(&position, position.legal_moves()[0], 0);
            record.game_hash = game_hash;
            record
        };
        let wanted = Wanted { calibration: 10, test: 10 };
        let of = |games: &[u64], share| {
            let records: Vec<Record> = games.iter().map(|&game| record(game)).collect();
            let selection = Selection::new(&records, share, Perspective::Mover, wanted).unwrap();
            (positions(&selection.calibration), positions(&selection.test))
        };
        assert_eq!(of(&[7; 5], 1.0), (1, 0));
        // The other game has no position that is new.
        assert_eq!(of(&[7, 8], 1.0), (1, 0));
        assert_eq!(of(&[7, 8], 0.0), (0, 0));
    }
}
