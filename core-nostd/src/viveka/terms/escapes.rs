//! Room to escape: pieces that are trapped or short of squares, raids and poisoned pawns.
use shakmaty::{Bitboard, Board, Position as _, Role, Square, attacks};

use super::{Term, development::at_home, material::taken};
use crate::viveka::{
    facts::{Side, dearest, officers, relative_rank},
    glance::{Glance, pawns},
};

pub(super) const ROWS: &[Term] = &[
    term!(
        "trapped",
        glance,
        bad,
        trapped,
        "1 if the moved piece has no safe square from where it landed",
        "leaves the {piece} on {to} without a safe square"
    ),
    term!(
        "few_escapes",
        glance,
        bad,
        few_escapes,
        "how many safe squares the moved piece is short of three",
        "leaves the {piece} on {to} {n:square} short of three safe ones"
    ),
    term!(
        "queen_raid",
        glance,
        bad,
        queen_raid,
        "1 if the queen lands in their half, unprotected, with at most four safe squares",
        "sends the queen alone to {to}, where squares are few"
    ),
    term!(
        "poisoned_pawn",
        glance,
        bad,
        poisoned_pawn,
        "1 if a piece takes a pawn in their half and has at most two safe squares there",
        "takes {theirs_before}, from where the {piece} may not come back" => taken
    ),
    term!(
        "pawn_grab",
        glance,
        bad,
        pawn_grab,
        "minor pieces still at home when the queen takes a pawn",
        "takes {theirs_before} with the queen and {n:minor piece} at home" => taken
    ),
    term!(
        "traps",
        glance,
        good,
        traps,
        "value in pawns of their dearest loose piece that has no safe square",
        "traps {theirs}" => stuck
    ),
    term!(
        "cramps",
        glance,
        good,
        cramps,
        "more of their pieces past their second rank with at most one safe square",
        "leaves {theirs} short of squares" => newly_cramped,
        "frees {theirs_before}" => freed
    ),
    term!(
        "own_cramped",
        glance,
        bad,
        own_cramped,
        "more of our other pieces past our second rank with at most one safe square",
        "leaves {ours} short of squares" => own_newly_cramped,
        "frees {ours_before}" => own_freed
    ),
];

/// Squares the piece on `square` of `own` can go to that no `enemy` attacks.
fn exits(board: &Board, square: Square, own: &Side, enemy: &Side) -> Bitboard {
    // Behind the piece its attackers' lines go on once it has left.
    let snipers = board.attacks_to(square, enemy.color, board.occupied()) & board.sliders();
    let lines =
        snipers.into_iter().fold(Bitboard::EMPTY, |all, sniper| all | attacks::ray(sniper, square));
    board.attacks_from(square) & !own.pieces & !enemy.attacks & !(lines & !snipers)
}

/// Safe squares that the moved piece has from where it landed; `None` for pawns and kings.
fn own_exits(g: &Glance) -> Option<i32> {
    let board = g.after.board();
    let officer = officers(board).contains(g.to);
    officer.then(|| exits(board, g.to, &g.facts.us, &g.facts.them).count() as i32)
}

fn trapped(g: &Glance) -> i32 {
    i32::from(own_exits(g) == Some(0))
}

fn few_escapes(g: &Glance) -> i32 {
    own_exits(g).map_or(0, |count| (3 - count).max(0))
}

/// Whether the move lands in the enemy's half.
fn in_their_half(g: &Glance) -> bool {
    relative_rank(g.to, g.before.us()) >= 4
}

fn queen_raid(g: &Glance) -> i32 {
    let alone = g.role == Role::Queen && in_their_half(g) && !g.facts.us.attacks.contains(g.to);
    i32::from(alone && own_exits(g).is_some_and(|count| count <= 4))
}

fn poisoned_pawn(g: &Glance) -> i32 {
    let takes_pawn = g.role != Role::Pawn && g.mv.capture() == Some(Role::Pawn);
    let few = || own_exits(g).is_some_and(|count| count <= 2);
    i32::from(takes_pawn && in_their_half(g) && few())
}

fn pawn_grab(g: &Glance) -> i32 {
    if g.role != Role::Queen || g.mv.capture() != Some(Role::Pawn) {
        return 0;
    }
    at_home(g.before.position.board(), g.before.us()).count() as i32
}

/// Their loose pieces that have no safe square.
fn stuck(g: &Glance) -> Bitboard {
    let board = g.after.board();
    (g.facts.their_loose & officers(board))
        .into_iter()
        .filter(|&square| exits(board, square, &g.facts.them, &g.facts.us).is_empty())
        .collect()
}

fn traps(g: &Glance) -> i32 {
    pawns(dearest(g.after.board(), stuck(g)))
}

/// Pieces of `own`, apart from one on `except`, that stand past its second rank with at most one
/// safe square.
fn cramped(board: &Board, own: &Side, enemy: &Side, except: Square) -> Bitboard {
    let pieces = (officers(board) & own.pieces).without(except);
    pieces
        .into_iter()
        .filter(|&square| relative_rank(square, own.color) >= 2)
        .filter(|&square| exits(board, square, own, enemy).count() <= 1)
        .collect()
}

/// Their cramped pieces before the move, without one that it takes, and after it.
fn their_cramped(g: &Glance) -> (Bitboard, Bitboard) {
    let (before, facts) = (&g.before.facts, &g.facts);
    let then = cramped(g.before.position.board(), &before.them, &before.us, g.to);
    (then, cramped(g.after.board(), &facts.them, &facts.us, g.to))
}

fn cramps(g: &Glance) -> i32 {
    let (before, after) = their_cramped(g);
    after.count() as i32 - before.count() as i32
}

fn newly_cramped(g: &Glance) -> Bitboard {
    let (before, after) = their_cramped(g);
    after & !before
}

fn freed(g: &Glance) -> Bitboard {
    let (before, after) = their_cramped(g);
    before & !after
}

/// Our cramped pieces other than the moved one, before the move and after it.
fn our_cramped(g: &Glance) -> (Bitboard, Bitboard) {
    let (before, facts) = (&g.before.facts, &g.facts);
    let then = cramped(g.before.position.board(), &before.us, &before.them, g.from);
    (then, cramped(g.after.board(), &facts.us, &facts.them, g.to))
}

fn own_cramped(g: &Glance) -> i32 {
    let (before, after) = our_cramped(g);
    after.count() as i32 - before.count() as i32
}

fn own_newly_cramped(g: &Glance) -> Bitboard {
    let (before, after) = our_cramped(g);
    after & !before
}

fn own_freed(g: &Glance) -> Bitboard {
    let (before, after) = our_cramped(g);
    before & !after
}
