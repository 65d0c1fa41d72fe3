//! Positions to batches: tokens, legal moves and targets as the network's backends take them.
use std::{ops::Range, sync::LazyLock};

use kibitzer_core::{
    inputs::{AUX, AUX_DENOMINATOR, Frame, Inputs, Perspective, SQUARES},
    moves::{MoveIndex, destination},
    shakmaty::{Chess, Move, Position as _, Role},
};
use kibitzer_gpu::{Batch, Pair, pairs};

use crate::records::{PlayedOften, Record, RecordError};

/// An empty batch with room for `positions` positions.
pub fn with_capacity(positions: usize) -> Batch {
    /// Legal moves of an average position, rounded up.
    const LEGAL: usize = 48;
    let mut batch = Batch {
        sequences: 0,
        length: 1,
        tokens: Vec::with_capacity(positions * 64),
        aux: Vec::with_capacity(positions * 7),
        legal_offsets: Vec::with_capacity(positions + 1),
        legal: Vec::with_capacity(positions * LEGAL),
        target_policy: Vec::with_capacity(positions * LEGAL),
        target_value: Vec::with_capacity(positions),
    };
    batch.legal_offsets.push(0);
    batch
}

/// Adds `position` with all its legal moves and no target.
pub fn push(batch: &mut Batch, position: &Chess, perspective: Perspective) {
    push_inputs(batch, position, perspective);
    let frame = Frame::new(perspective, position.turn());
    batch.legal.extend(position.legal_moves().into_iter().map(|mv| index(mv, frame)));
    batch.legal_offsets.push(batch.legal.len() as u32);
}

/// Adds `position` without any move: only its value is wanted.
pub fn push_for_value(batch: &mut Batch, position: &Chess, perspective: Perspective) {
    push_inputs(batch, position, perspective);
    batch.legal_offsets.push(batch.legal.len() as u32);
}

/// Adds a record's position with its legal moves; the target is the record's own move, the value
/// the games' mean result.
///
/// # Errors
/// If the record is damaged; the batch is then unchanged.
pub fn push_record(
    batch: &mut Batch,
    record: &Record,
    perspective: Perspective,
) -> Result<(), RecordError> {
    push_played(batch, record, &[], perspective)
}

/// As [`push_record`], with several moves as one target: how often each was `played`. The
/// record's own move counts where that is empty.
///
/// # Errors
/// As [`push_record`].
pub fn push_played(
    batch: &mut Batch,
    record: &Record,
    played: &[PlayedOften],
    perspective: Perspective,
) -> Result<(), RecordError> {
    let position = record.position()?;
    let legal = position.legal_moves();
    let own = record.played.among(&legal)?;
    let often = |often: &PlayedOften| Ok((often.played.among(&legal)?, often.count));
    let often = played.iter().map(often).collect::<Result<Vec<_>, _>>()?;
    let frame = Frame::new(perspective, position.turn());
    push_inputs(batch, &position, perspective);
    let start = batch.legal.len();
    batch.legal.extend(legal.iter().map(|&mv| index(mv, frame)));
    batch.legal_offsets.push(batch.legal.len() as u32);
    batch.target_policy.resize(batch.legal.len(), 0.0);
    let total = often.iter().map(|&(_, count)| f64::from(count)).sum::<f64>();
    for &(i, count) in &often {
        batch.target_policy[start + i] = (f64::from(count) / total) as f32;
    }
    if often.is_empty() {
        batch.target_policy[start + own] = 1.0;
    }
    batch.target_value.push(record.outcomes.mean() as f32);
    Ok(())
}

/// The number of the move's index, by a table for all but underpromotions: half of the time that
/// a position takes went into working it out.
fn index(mv: Move, frame: Frame) -> u16 {
    static INDICES: LazyLock<Box<[u16; SQUARES * SQUARES]>> = LazyLock::new(|| {
        let mut indices = Box::new([0; SQUARES * SQUARES]);
        for (index, pair) in (0u16..).zip(pairs()) {
            if let Some(Pair { from, to, promotion: None }) = *pair {
                indices[usize::from(from) * SQUARES + usize::from(to)] = index;
            }
        }
        indices
    });
    match (mv.from(), mv.promotion()) {
        (Some(from), None | Some(Role::Queen)) => {
            let (from, to) = (frame.square(from), frame.square(destination(mv)));
            INDICES[from.to_usize() * SQUARES + to.to_usize()]
        }
        _ => MoveIndex::new(mv, frame).to_usize() as u16,
    }
}

/// Batches of at most `size` records.
///
/// # Errors
/// If a record is damaged.
pub fn of_records(
    records: &[&Record],
    perspective: Perspective,
    size: usize,
) -> Result<Vec<Batch>, RecordError> {
    let batch = |chunk: &[&Record]| {
        let mut batch = with_capacity(chunk.len());
        for record in chunk {
            push_record(&mut batch, record, perspective)?;
        }
        Ok(batch)
    };
    records.chunks(size).map(batch).collect()
}

/// Some sequences of a valid batch, with their targets if it has any.
pub fn part(batch: &Batch, sequences: Range<usize>) -> Batch {
    let positions = sequences.start * batch.length..sequences.end * batch.length;
    let offsets = &batch.legal_offsets[positions.start..=positions.end];
    let (first, last) = (offsets[0], offsets[positions.len()]);
    let entries = first as usize..last as usize;
    let rows = |width: usize| positions.start * width..positions.end * width;
    Batch {
        sequences: sequences.len(),
        length: batch.length,
        tokens: batch.tokens[rows(SQUARES)].to_vec(),
        aux: batch.aux[rows(AUX)].to_vec(),
        legal_offsets: offsets.iter().map(|offset| offset - first).collect(),
        legal: batch.legal[entries.clone()].to_vec(),
        target_policy: batch.target_policy.get(entries).unwrap_or_default().to_vec(),
        target_value: batch.target_value.get(positions).unwrap_or_default().to_vec(),
    }
}

fn push_inputs(batch: &mut Batch, position: &Chess, perspective: Perspective) {
    let inputs = Inputs::new(position, perspective);
    batch.tokens.extend_from_slice(&inputs.tokens);
    let scalars = inputs.aux.iter().zip(AUX_DENOMINATOR);
    batch.aux.extend(scalars.map(|(&x, denominator)| f32::from(x) / f32::from(denominator)));
    batch.sequences += 1;
}

#[cfg(test)]
mod tests {
    use kibitzer_core::position::parse_fen;

    use super::*;

    const FEN: &str = "r3k2r/pppq1ppp/2n2n2/3pp3/1b1PP3/2N2N2/PPPQ1PPP/R3K2R b KQkq - 4 8";

    #[test]
    fn records_make_sound_batches_in_both_perspectives() {
        let position = parse_fen(FEN).unwrap();
        let mv = position.legal_moves()[5];
        let record = Record::new(&position, mv, 14).with_result(-1);
        for perspective in [Perspective::Absolute, Perspective::Mover] {
            let mut batch = with_capacity(2);
            push_record(&mut batch, &record, perspective).unwrap();
            push_record(&mut batch, &record, perspective).unwrap();
            batch.validate().unwrap();
            batch.validate_targets().unwrap();
            assert_eq!(batch.target_value, [-1.0, -1.0]);
            let frame = Frame::new(perspective, position.turn());
            let index = MoveIndex::from_usize(batch.legal[5].into()).unwrap();
            assert_eq!(index.decode(&position, frame), Some(mv));
            assert_eq!(batch.target_policy[5], 1.0);
        }
    }

    #[test]
    fn the_table_has_every_move_s_index() {
        for fen in [
            FEN,
            "r3k2r/P6P/8/3pP3/8/8/p6p/R3K2R w KQkq d6 0 1",
            "r3k2r/P6P/8/8/3pP3/8/p6p/R3K2R b KQkq e3 0 1",
        ] {
            let position = parse_fen(fen).unwrap();
            for perspective in [Perspective::Absolute, Perspective::Mover] {
                let frame = Frame::new(perspective, position.turn());
                for mv in position.legal_moves() {
                    let wanted = MoveIndex::new(mv, frame).to_usize();
                    assert_eq!(usize::from(index(mv, frame)), wanted, "{mv:?}");
                }
            }
        }
    }

    #[test]
    fn a_part_is_the_batch_of_its_positions() {
        let position = parse_fen(FEN).unwrap();
        let records: Vec<Record> =
            position.legal_moves().iter().map(|&mv| Record::new(&position, mv, 14)).collect();
        let of = |records: &[Record]| {
            let records: Vec<&Record> = records.iter().collect();
            of_records(&records, Perspective::Mover, records.len()).unwrap().remove(0)
        };
        assert_eq!(part(&of(&records), 2..5), of(&records[2..5]));
    }

    #[test]
    fn a_position_alone_has_its_moves_or_none() {
        let position = parse_fen(FEN).unwrap();
        let mut batch = with_capacity(2);
        push(&mut batch, &position, Perspective::Mover);
        push_for_value(&mut batch, &position, Perspective::Mover);
        batch.validate().unwrap();
        assert_eq!(batch.entries(0).len(), position.legal_moves().len());
        assert!(batch.entries(1).is_empty());
    }
}
