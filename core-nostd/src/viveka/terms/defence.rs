//! Guards: pieces protected, left alone, overloaded or deprived of their defender.
use shakmaty::{Bitboard, Board, Position as _};

use super::Term;
use crate::viveka::{
    facts::{Side, dearest, officers},
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
        "leaves {ours} unguarded" => newly_alone,
        "leaves {n:piece} fewer unguarded"
    ),
    term!(
        "their_undefended",
        glance,
        good,
        their_undefended,
        "their pieces without a guard, pawns apart, after minus before",
        "leaves {theirs} unguarded" => abandoned,
        "lets them guard {n:more piece}"
    ),
    term!(
        "removes_defender",
        glance,
        good,
        removes_defender,
        "value in pawns of the dearest piece that is loose because its guard was taken",
        "takes the guard of {theirs}" => bereft
    ),
    term!(
        "takes_attacker",
        glance,
        good,
        takes_attacker,
        "value in pawns of our dearest piece that the captured piece kept loose",
        "takes {theirs_before}, which attacked {ours_before}" => attacker_and_relieved
    ),
    term!(
        "overload",
        worked_out,
        good,
        overload,
        "their pieces that alone guard two attacked ones, after minus before",
        "overloads {theirs}" => newly_overloaded,
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
    officers(board) & side.pieces & !side.attacks
}

/// Our unguarded pieces before the move and after it.
fn our_alone(g: &Glance) -> (Bitboard, Bitboard) {
    let before = alone(g.before.position.board(), &g.before.facts.us);
    (before, alone(g.after.board(), &g.facts.us))
}

fn undefended(g: &Glance) -> i32 {
    let (before, after) = our_alone(g);
    after.count() as i32 - before.count() as i32
}

fn newly_alone(g: &Glance) -> Bitboard {
    let (before, after) = our_alone(g);
    let newly = after & !before;
    // The moved piece takes its state along.
    if before.contains(g.from) { newly.without(g.to) } else { newly }
}

/// Their unguarded pieces before the move, without one that it takes, and after it.
fn their_alone(g: &Glance) -> (Bitboard, Bitboard) {
    let before = alone(g.before.position.board(), &g.before.facts.them).without(g.to);
    (before, alone(g.after.board(), &g.facts.them))
}

fn their_undefended(g: &Glance) -> i32 {
    let (before, after) = their_alone(g);
    after.count() as i32 - before.count() as i32
}

fn abandoned(g: &Glance) -> Bitboard {
    let (before, after) = their_alone(g);
    after & !before
}

/// What the captured piece attacked and guarded.
fn captured_reach(g: &Glance) -> Bitboard {
    let capture = g.mv.is_capture() && !g.mv.is_en_passant();
    if capture { g.before.position.board().attacks_from(g.to) } else { Bitboard::EMPTY }
}

/// Their pieces that are loose because their guard was taken.
fn bereft(g: &Glance) -> Bitboard {
    g.facts.their_loose & !g.before.facts.their_loose & captured_reach(g)
}

fn removes_defender(g: &Glance) -> i32 {
    pawns(dearest(g.after.board(), bereft(g)))
}

/// Our pieces that the captured one kept loose.
fn relieved(g: &Glance) -> Bitboard {
    (g.before.facts.our_loose & captured_reach(g) & !g.facts.our_loose).without(g.from)
}

fn takes_attacker(g: &Glance) -> i32 {
    pawns(dearest(g.before.position.board(), relieved(g)))
}

fn attacker_and_relieved(g: &Glance) -> Bitboard {
    relieved(g).with(g.to)
}

/// Pieces of `side` that alone guard two or more pieces which `enemy` attacks.
fn overloaded(board: &Board, side: &Side, enemy: &Side) -> Bitboard {
    let (mut once, mut twice) = (Bitboard::EMPTY, Bitboard::EMPTY);
    for square in side.pieces & enemy.attacks & !board.kings() {
        let guards = board.attacks_to(square, side.color, board.occupied());
        if let Some(guard) = guards.single_square() {
            twice |= once & Bitboard::from_square(guard);
            once.add(guard);
        }
    }
    twice
}

/// Their overloaded pieces before the move and after it.
fn their_overloaded(g: &Glance) -> (Bitboard, Bitboard) {
    let (before, facts) = (&g.before.facts, &g.facts);
    let then = overloaded(g.before.position.board(), &before.them, &before.us);
    (then, overloaded(g.after.board(), &facts.them, &facts.us))
}

fn overload(g: &Glance) -> i32 {
    let (before, after) = their_overloaded(g);
    after.count() as i32 - before.count() as i32
}

fn newly_overloaded(g: &Glance) -> Bitboard {
    let (before, after) = their_overloaded(g);
    after & !before
}
