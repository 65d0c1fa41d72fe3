//! Which positions calibrate, and which test.
use std::collections::HashSet;

use anyhow::Result;
use kibitzer_core::inputs::{AUX, Inputs, Perspective, SQUARES};
use kibitzer_gpu::Batch;

use super::calibration::CHUNK;
use crate::{
    batches,
    evaluation::evenly,
    records::{Record, RecordError},
};

/// Two sets of positions that have none in common, as the network sees them.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// From games that training may have used.
    pub calibration: Vec<Batch>,
    /// From games that training holds out.
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
    /// Chooses distinct positions, evenly spaced over the games; fewer than wanted if there are
    /// no more. `share` of the games are held out.
    ///
    /// # Errors
    /// [`RecordError`] if a record is damaged.
    pub fn new(
        records: &[Record],
        share: f64,
        perspective: Perspective,
        wanted: Wanted,
    ) -> Result<Selection> {
        let (held_out, training): (Vec<&Record>, Vec<&Record>) =
            records.iter().partition(|record| record.is_held_out(share));
        let mut chooser = Chooser { perspective, seen: HashSet::new() };
        let calibration = chooser.choose(&training, wanted.calibration)?;
        let tested = chooser.choose(&held_out, wanted.test)?;
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
        // Some of the evenly spaced ones repeat, openings above all: look at more until enough
        // are new.
        let mut chosen = Vec::new();
        let mut looked_at = wanted;
        loop {
            for record in evenly(records, looked_at) {
                if chosen.len() == wanted {
                    break;
                }
                let inputs = Inputs::new(&record.position()?, self.perspective);
                if self.seen.insert((inputs.tokens, inputs.aux)) {
                    chosen.push(record);
                }
            }
            if chosen.len() == wanted || looked_at >= records.len() {
                break;
            }
            looked_at *= 2;
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
        let wanted = Wanted { calibration: 300, test: 100 };
        let selection = Selection::new(&records(), 0.3, Perspective::Mover, wanted).unwrap();
        let (calibration, test) = (keys(&selection.calibration), keys(&selection.test));
        assert_eq!((calibration.len(), test.len()), (300, 100));
        assert_eq!((positions(&selection.calibration), positions(&selection.test)), (300, 100));
        let distinct: HashSet<_> = calibration.iter().chain(&test).collect();
        assert_eq!(distinct.len(), 400);
        assert!(selection.calibration.iter().all(|batch| batch.positions() <= CHUNK));
    }

    #[test]
    fn too_few_are_all_taken_once() {
        let position = parse_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1").unwrap();
        let record = Record::new(&position, position.legal_moves()[0], 0);
        let wanted = Wanted { calibration: 10, test: 10 };
        let selection = Selection::new(&[record; 5], 0.0, Perspective::Mover, wanted).unwrap();
        assert_eq!((positions(&selection.calibration), positions(&selection.test)), (1, 0));
    }
}
