//! Guards: pieces protected, left alone, overloaded or deprived of their defender.
use shakmaty::{Bitboard, Board, Position as _};

use super::Term;
use crate::viveka::{
    facts::{Side, dearest},
    glance::{Glance, pawns},
};

pub(super) const ROWS: &[Term] = &[
    term!(
        "defends",
        glance,
        good,
        defends,
        "attacked pieces of ours that the moved piece newly protects",
        "protects {ours}" => defended
    ),
    term!(
        "protects",
        glance,
        good,
        protects,
        "our pieces and pawns that the moved piece guards, after minus before",
        "guards {n:more piece}",
        "guards {n:piece} fewer"
    ),
    term!(
        "undefended",
        glance,
        bad,
        undefended,
        "our pieces without a guard, pawns apart, after minus before",
        "leaves {n:more piece} unguarded",
        "leaves {n:piece} fewer unguarded"
    ),
    term!(
        "their_undefended",
        glance,
        good,
        their_undefended,
        "their pieces without a guard, pawns apart, after minus before",
        "leaves {n:more enemy piece} unguarded",
        "lets them guard {n:more piece}"
    ),
    term!(
        "removes_defender",
        glance,
        good,
        removes_defender,
        "value in pawns of the dearest piece that is loose because its guard was taken",
        "takes the guard of something worth {n:pawn}"
    ),
    term!(
        "takes_attacker",
        glance,
        good,
        takes_attacker,
        "value in pawns of our dearest piece that the captured piece kept loose",
        "takes what attacked {n:pawn} of ours"
    ),
    term!(
        "overload",
        worked_out,
        good,
        overload,
        "their pieces that alone guard two attacked ones, after minus before",
        "overloads {n:guard}",
        "frees {n:overloaded guard}"
    ),
];

fn defends(g: &Glance) -> i32 {
    defended(g).count() as i32
}

/// Loose pieces of ours that the moved piece newly protects.
fn defended(g: &Glance) -> Bitboard {
    let board = g.before.position.board();
    let attacked = g.facts.us.pieces & g.facts.them.attacks & !board.kings();
    let newly = g.after.board().attacks_from(g.to) & !board.attacks_from(g.from);
    (attacked & newly & g.before.facts.our_loose).without(g.from)
}

/// Our pieces and pawns on `squares`, the king apart.
fn wards(board: &Board, side: &Side, squares: Bitboard) -> i32 {
    (squares & side.pieces & !board.kings()).count() as i32
}

fn protects(g: &Glance) -> i32 {
    let (board, before) = (g.after.board(), g.before.position.board());
    wards(board, &g.facts.us, board.attacks_from(g.to))
        - wards(before, &g.before.facts.us, before.attacks_from(g.from))
}

/// Knights, bishops, rooks and queens of `side` that nothing guards.
fn alone(board: &Board, side: &Side) -> Bitboard {
    side.pieces & !board.pawns() & !board.kings() & !side.attacks
}

fn undefended(g: &Glance) -> i32 {
    let before = alone(g.before.position.board(), &g.before.facts.us);
    alone(g.after.board(), &g.facts.us).count() as i32 - before.count() as i32
}

fn their_undefended(g: &Glance) -> i32 {
    // A piece that we take has not found a guard.
    let before = alone(g.before.position.board(), &g.before.facts.them).without(g.to);
    alone(g.after.board(), &g.facts.them).count() as i32 - before.count() as i32
}

/// What the captured piece attacked and guarded.
fn captured_reach(g: &Glance) -> Bitboard {
    let capture = g.mv.is_capture() && !g.mv.is_en_passant();
    if capture { g.before.position.board().attacks_from(g.to) } else { Bitboard::EMPTY }
}

fn removes_defender(g: &Glance) -> i32 {
    let newly = g.facts.their_loose & !g.before.facts.their_loose;
    pawns(dearest(g.after.board(), newly & captured_reach(g)))
}

fn takes_attacker(g: &Glance) -> i32 {
    let freed = g.before.facts.our_loose & captured_reach(g) & !g.facts.our_loose;
    pawns(dearest(g.before.position.board(), freed.without(g.from)))
}

/// Pieces of `side` that alone guard two or more pieces which `enemy` attacks.
fn overloaded(board: &Board, side: &Side, enemy: &Side) -> i32 {
    let (mut once, mut twice) = (Bitboard::EMPTY, Bitboard::EMPTY);
    for square in side.pieces & enemy.attacks & !board.kings() {
        let guards = board.attacks_to(square, side.color, board.occupied());
        if let Some(guard) = guards.single_square() {
            twice |= once & Bitboard::from_square(guard);
            once.add(guard);
        }
    }
    twice.count() as i32
}

fn overload(g: &Glance) -> i32 {
    let before = &g.before.facts;
    overloaded(g.after.board(), &g.facts.them, &g.facts.us)
        - overloaded(g.before.position.board(), &before.them, &before.us)
}
