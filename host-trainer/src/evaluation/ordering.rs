//! Whether values order positions that differ by a piece.
use anyhow::Result;
use kibitzer_core::{inputs::Perspective, shakmaty::Role};
use serde::Serialize;

use super::{CHUNK, Case, Change, ROLES, cases, evenly};
use crate::{batches, examples::Examples, network::Evaluate};

/// The material test: for each case the value must have moved the right way from that of the
/// position unchanged. Equal values fail.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MaterialReport {
    /// Real positions looked at.
    pub positions: usize,
    /// Pairs of a position and the same changed by a piece.
    pub pairs: usize,
    /// Share of the pairs in the right order; null without pairs.
    pub pass_rate: f64,
    /// By kind of piece.
    pub pieces: Pieces,
    /// By kind of change.
    pub changes: Changes,
}

/// By kind of piece.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Pieces {
    pub pawn: Rate,
    pub knight: Rate,
    pub bishop: Rate,
    pub rook: Rate,
    pub queen: Rate,
}

/// By kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Changes {
    /// The mover loses a piece: the value must fall.
    pub own_removed: Rate,
    /// The opponent loses one: it must rise.
    pub opponent_removed: Rate,
    /// The mover gets one: it must rise.
    pub own_added: Rate,
    /// The opponent gets one: it must fall.
    pub opponent_added: Rate,
}

/// How often values are in order.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rate {
    /// Pairs tried.
    pub pairs: usize,
    /// Share of them in the right order; null without pairs.
    pub pass_rate: f64,
    /// Mean movement of the value in the right direction, from −2 to 2; null without pairs.
    pub mean_movement: f64,
}

/// Tests the values of `network` on changes of material in at most `limit` of the examples'
/// positions, evenly spaced, with up to five changes each: see [`cases`].
///
/// # Errors
/// [`crate::error::UserError`] if an example is damaged; others if the device fails.
pub fn material_order(
    network: &mut dyn Evaluate,
    perspective: Perspective,
    examples: &dyn Examples,
    numbers: &[u32],
    limit: usize,
) -> Result<MaterialReport> {
    let numbers: Vec<u32> = evenly(numbers, limit).collect();
    let mut moved = Vec::new();
    // A position and its cases are at most six: they fit in a chunk.
    for (start, chunk) in (0..).step_by(CHUNK / 6).zip(numbers.chunks(CHUNK / 6)) {
        let mut batch = batches::with_capacity(CHUNK);
        let mut groups = Vec::with_capacity(chunk.len());
        for (turn, &number) in (start..).zip(chunk) {
            let position = examples.position(number)?;
            let cases = cases(&position, turn);
            batches::push_for_value(&mut batch, &position, perspective);
            for case in &cases {
                batches::push_for_value(&mut batch, &case.position, perspective);
            }
            groups.push(cases);
        }
        movements(&groups, &network.evaluate(&batch)?.values, &mut moved);
    }
    Ok(report(numbers.len(), &moved))
}

/// A change, and how far the value moved in its direction.
type Moved = (Change, f64);

/// Adds the movement of each case, from the values of each position and its cases.
fn movements(groups: &[Vec<Case>], values: &[f32], moved: &mut Vec<Moved>) {
    let mut values = values.iter().map(|&value| f64::from(value));
    let mut next = || values.next().expect("one value for each position");
    for cases in groups {
        let before = next();
        for case in cases {
            let rise = next() - before;
            moved.push((case.change, if case.change.is_good() { rise } else { -rise }));
        }
    }
}

fn report(positions: usize, moved: &[Moved]) -> MaterialReport {
    let of = |wanted: &dyn Fn(&Change) -> bool| {
        let chosen = || moved.iter().filter(|(change, _)| wanted(change)).map(|&(_, by)| by);
        let pairs = chosen().count();
        let passed = chosen().filter(|&by| by > 0.0).count();
        let mean = |sum: f64| sum / pairs as f64;
        Rate { pairs, pass_rate: mean(passed as f64), mean_movement: mean(chosen().sum()) }
    };
    let [pawn, knight, bishop, rook, queen] =
        ROLES.map(|role: Role| of(&|change| change.role == role));
    let kind = |ours, added| of(&|change| (change.ours, change.added) == (ours, added));
    let all = of(&|_| true);
    MaterialReport {
        positions,
        pairs: all.pairs,
        pass_rate: all.pass_rate,
        pieces: Pieces { pawn, knight, bishop, rook, queen },
        changes: Changes {
            own_removed: kind(true, false),
            opponent_removed: kind(false, false),
            own_added: kind(true, true),
            opponent_added: kind(false, true),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use kibitzer_core::{exchange::piece_points, inputs::TOKENS, position::parse_fen};
    use kibitzer_gpu::{Batch, Outputs};

    use super::*;
    use crate::records::{Record, Records};

    /// Counts material, from the mover's side or from the other.
    struct Counter(f32);

    impl Evaluate for Counter {
        fn evaluate(&mut self, batch: &Batch) -> Result<Outputs> {
            // Tokens: 0 empty, 1–6 the mover's P N B R Q K, 7–12 the opponent's.
            assert_eq!(TOKENS, 13);
            let worth = |&token: &u8| match token {
                0 => 0,
                own @ 1..=6 => piece_points(Role::try_from(own).unwrap()),
                other => -piece_points(Role::try_from(other - 6).unwrap()),
            };
            let values = batch.tokens.chunks(64).map(|board| {
                let points: i32 = board.iter().map(worth).sum();
                self.0 * points as f32 / 10_000.0
            });
            Ok(Outputs { logits: vec![], values: values.collect() })
        }
    }

    fn order(sign: f32) -> MaterialReport {
        let fens = [
            "r1bq1rk1/pp3ppp/2n2n2/3p4/3P4/2N2N2/PP3PPP/R1BQ1RK1 w - - 0 10",
            "r1bq1rk1/pp3ppp/2n2n2/3p4/3P4/2N2N2/PP3PPP/R1BQ1RK1 b - - 0 10",
        ];
        let record = |i: usize| {
            let position = parse_fen(fens[i % 2]).unwrap();
            let mv = kibitzer_core::shakmaty::Position::legal_moves(&position)[0];
            Record::new(&position, mv, 0)
        };
        let records = Records::in_memory(Path::new("games"), (0..100).map(record).collect());
        let numbers: Vec<u32> = (0..100).collect();
        material_order(&mut Counter(sign), Perspective::Mover, &records, &numbers, 90).unwrap()
    }

    #[test]
    fn who_counts_material_passes_and_who_counts_it_backwards_fails() {
        let good = order(1.0);
        assert_eq!((good.positions, good.pairs, good.pass_rate), (90, 450, 1.0));
        assert!((good.pieces.queen.mean_movement - 0.09).abs() < 1e-6);
        assert!((good.pieces.pawn.mean_movement - 0.01).abs() < 1e-6);
        let changes = good.changes;
        for rate in [
            changes.own_removed,
            changes.opponent_removed,
            changes.own_added,
            changes.opponent_added,
        ] {
            assert!(rate.pairs > 50, "{changes:?}");
        }
        assert_eq!(order(-1.0).pass_rate, 0.0);
        assert_eq!(order(0.0).pass_rate, 0.0, "equal values fail");
    }
}
