//! Moves as people write them.
use core::fmt;

use shakmaty::{
    Bitboard, CastlingSide, Chess, Color, Move, Position as _, Role, Square,
    san::{San, SanPlus, Suffix},
};

use crate::{legal, position::after};

/// Writes a line of legal moves from `start` in SAN; when Black begins, "…" stands before it.
pub fn write_line(f: &mut impl fmt::Write, start: &Chess, moves: &[Move]) -> fmt::Result {
    let mut position = start.clone();
    for (place, &mv) in moves.iter().enumerate() {
        if place > 0 {
            f.write_char(' ')?;
        } else if start.turn() == Color::Black {
            f.write_char('…')?;
        }
        let san = san(&position, mv);
        position = after(&position, mv);
        write!(f, "{}", SanPlus { san, suffix: suffix(&position) })?;
    }
    Ok(())
}

/// A legal move of `position` in SAN, one of Black's after "…".
pub fn notation(position: &Chess, mv: Move) -> impl fmt::Display {
    fmt::from_fn(move |f| write_line(f, position, &[mv]))
}

/// A legal move of `position`, told from its others.
fn san(position: &Chess, mv: Move) -> San {
    match mv {
        Move::Castle { king, rook } => San::Castle(CastlingSide::from_queen_side(rook < king)),
        Move::Put { role, to } => San::Put { role, to },
        Move::EnPassant { from, to } => San::Normal {
            role: Role::Pawn,
            file: Some(from.file()),
            rank: None,
            capture: true,
            to,
            promotion: None,
        },
        Move::Normal { role, from, capture, to, promotion } => {
            let capture = capture.is_some();
            let [file, rank] = if role == Role::Pawn {
                [capture, false]
            } else {
                origin_told(position, role, from, to)
            };
            San::Normal {
                role,
                file: file.then(|| from.file()),
                rank: rank.then(|| from.rank()),
                capture,
                to,
                promotion,
            }
        }
    }
}

/// Whether a piece's file and rank have to be told, since others like it could go to `to`, too.
#[inline(never)] // the list of moves must not stay on the caller's stack
fn origin_told(position: &Chess, role: Role, from: Square, to: Square) -> [bool; 2] {
    let moves = legal::moves(position);
    let others = moves.iter().filter_map(|&mv| match mv {
        Move::Normal { role: other, from: start, to: end, .. } => {
            (other == role && end == to && start != from).then_some(start)
        }
        _ => None,
    });
    let others: Bitboard = others.collect();
    let same_file = others.intersects(Bitboard::from_file(from.file()));
    let same_rank = others.intersects(Bitboard::from_rank(from.rank()));
    [others.any() && (!same_file || same_rank), same_file]
}

/// Check or mate.
#[inline(never)] // nor this list
fn suffix(position: &Chess) -> Option<Suffix> {
    if legal::is_checkmate(position) {
        Some(Suffix::Checkmate)
    } else {
        position.is_check().then_some(Suffix::Check)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::position::parse_fen;
    use std::string::ToString as _;

    #[test]
    fn moves_are_written_as_the_rules_board_writes_them() {
        let mut written = 0;
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
            "8/2p5/3p4/KP5r/1R2Pp1k/8/6P1/8 b - e3 0 1",
            "7k/6p1/8/1Q1Q4/8/1Q5K/8/N3N3 w - - 0 1",
            "6k1/5ppp/8/8/8/8/8/K3R2R w - - 0 1",
        ] {
            let position = parse_fen(fen).expect("legal");
            for mv in legal::moves(&position) {
                let expected = SanPlus::from_move(position.clone(), mv).to_string();
                let expected = if position.turn() == Color::Black {
                    std::format!("…{expected}")
                } else {
                    expected
                };
                assert_eq!(notation(&position, mv).to_string(), expected, "{fen}");
                written += 1;
            }
        }
        assert!(written > 150, "{written}");
    }
}
