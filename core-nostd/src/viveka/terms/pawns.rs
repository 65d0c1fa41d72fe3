//! Pawn moves and pawn structure.
use shakmaty::{Bitboard, Color, File, Position as _, Role, Square};

use super::Term;
use crate::viveka::{
    facts::{FULL_PHASE, is_passed, passed_pawns, pawn_faults, relative_rank},
    glance::Glance,
};

pub(super) const ROWS: &[Term] = &[
    term!(
        "centre_pawn",
        glance,
        good,
        centre_pawn,
        "1 if a pawn lands on d4, e4, d5 or e5",
        "puts a pawn in the centre"
    ),
    term!(
        "flank_pawn",
        glance,
        either,
        flank_pawn,
        "1 if an a-, b-, g- or h-pawn moves in the middlegame",
        "moves a flank pawn"
    ),
    term!(
        "passed_push",
        glance,
        good,
        passed_push,
        "a passed pawn's advance, by the square of its steps past the second rank, halved",
        "pushes a passed pawn, worth {n}"
    ),
    term!(
        "passed_pawns",
        glance,
        good,
        passed,
        "our passed pawns minus theirs, after minus before",
        "gains {n:passed pawn} on balance",
        "concedes {n:passed pawn} on balance"
    ),
    term!(
        "pawn_faults",
        glance,
        bad,
        faults,
        "our doubled and isolated pawns minus theirs, after minus before",
        "worsens the pawns by {n:fault}",
        "betters the pawns by {n:fault}"
    ),
];

fn centre_pawn(g: &Glance) -> i32 {
    let centre = Bitboard::from_square(Square::D4) | Square::E4 | Square::D5 | Square::E5;
    i32::from(g.role == Role::Pawn && centre.contains(g.to))
}

fn flank_pawn(g: &Glance) -> i32 {
    let flank = matches!(g.from.file(), File::A | File::B | File::G | File::H);
    i32::from(g.role == Role::Pawn && flank && 2 * g.before.phase > FULL_PHASE)
}

fn passed_push(g: &Glance) -> i32 {
    let us = g.before.us();
    if g.role != Role::Pawn || g.mv.is_promotion() || !is_passed(g.after.board(), g.to, us) {
        return 0;
    }
    let steps = relative_rank(g.to, us) - 1;
    steps * steps / 2
}

/// Our passed pawns minus theirs, on one board.
fn passed_balance(board: &shakmaty::Board, us: Color) -> i32 {
    passed_pawns(board, us) - passed_pawns(board, !us)
}

fn passed(g: &Glance) -> i32 {
    let us = g.before.us();
    passed_balance(g.after.board(), us) - passed_balance(g.before.position.board(), us)
}

/// Our pawn faults minus theirs, on one board.
fn fault_balance(board: &shakmaty::Board, us: Color) -> i32 {
    pawn_faults(board, us) - pawn_faults(board, !us)
}

fn faults(g: &Glance) -> i32 {
    let us = g.before.us();
    fault_balance(g.after.board(), us) - fault_balance(g.before.position.board(), us)
}
