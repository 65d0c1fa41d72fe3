//! Passed pawns: pushing them, supporting them, stopping theirs.
use shakmaty::{Bitboard, Board, Color, Position as _, Role, Square, attacks};

use super::Term;
use crate::viveka::{
    facts::{is_passed, neighbours, passed, relative_rank, stop},
    glance::Glance,
};

pub(super) const ROWS: &[Term] = &[
    term!(
        "passed_push",
        glance,
        good,
        passed_push,
        "a passed pawn's advance, by the square of its steps past the second rank, halved",
        "pushes the passed pawn to {to}"
    ),
    term!(
        "passed_pawns",
        glance,
        good,
        passed_pawns,
        "our passed pawns minus theirs, after minus before",
        "gains {n:passed pawn} on balance",
        "concedes {n:passed pawn} on balance"
    ),
    term!(
        "connected_passers",
        glance,
        good,
        connected_passers,
        "our passed pawns with another beside them, a rank apart at most, after minus before",
        "gains {n:connected passed pawn}",
        "gives up {n:connected passed pawn}"
    ),
    term!(
        "supports_passer",
        glance,
        good,
        supports_passer,
        "1 if the moved piece newly guards a passed pawn of ours or the square before it",
        "supports {ours}" => supported
    ),
    term!(
        "blockade",
        glance,
        good,
        blockade,
        "1 if the moved piece stands before a passed pawn of theirs, -1 if it stood there",
        "stops {theirs} with the {piece}" => stopped,
        "lets {theirs} go" => released
    ),
    term!(
        "rook_behind",
        glance,
        good,
        rook_behind,
        "1 if a rook gets behind a passed pawn of either side",
        "puts the rook behind a passed pawn"
    ),
    term!(
        "promotion_threat",
        glance,
        good,
        promotion_threat,
        "1 if a pawn reaches the seventh rank safely and nothing stops it there",
        "threatens to queen the pawn on {to}"
    ),
];

fn passed_push(g: &Glance) -> i32 {
    let us = g.before.us();
    if g.role != Role::Pawn || g.mv.is_promotion() || !is_passed(g.after.board(), g.to, us) {
        return 0;
    }
    let steps = relative_rank(g.to, us) - 1;
    steps * steps / 2
}

/// Our passed pawns minus theirs, on one board.
fn balance(board: &Board, us: Color) -> i32 {
    passed(board, us).count() as i32 - passed(board, !us).count() as i32
}

fn passed_pawns(g: &Glance) -> i32 {
    let us = g.before.us();
    balance(g.after.board(), us) - balance(g.before.position.board(), us)
}

/// Passed pawns of `color` with another on a neighbouring file, a rank apart at most.
fn connected(board: &Board, color: Color) -> i32 {
    let all = passed(board, color);
    let beside = |square: Square| all & neighbours(square.file()) & attacks::king_attacks(square);
    all.into_iter().filter(|&square| beside(square).any()).count() as i32
}

fn connected_passers(g: &Glance) -> i32 {
    let us = g.before.us();
    connected(g.after.board(), us) - connected(g.before.position.board(), us)
}

fn supports_passer(g: &Glance) -> i32 {
    i32::from(g.role != Role::Pawn && supported(g).any())
}

/// Passed pawns of ours that the moved piece newly guards, or the square before them.
fn supported(g: &Glance) -> Bitboard {
    let (board, us) = (g.after.board(), g.before.us());
    let newly = board.attacks_from(g.to) & !g.before.position.board().attacks_from(g.from);
    let guards = |pawn: Square| {
        newly.contains(pawn) || stop(pawn, us).is_some_and(|next| newly.contains(next))
    };
    passed(board, us).into_iter().filter(|&pawn| guards(pawn)).collect()
}

/// Passed pawns of theirs whose next square is `square`.
fn held_at(g: &Glance, square: Square) -> Bitboard {
    let them = g.facts.them.color;
    let pawns = passed(g.after.board(), them).into_iter();
    pawns.filter(|&pawn| stop(pawn, them) == Some(square)).collect()
}

fn stopped(g: &Glance) -> Bitboard {
    held_at(g, g.to)
}

fn released(g: &Glance) -> Bitboard {
    held_at(g, g.from)
}

fn blockade(g: &Glance) -> i32 {
    let (board, them) = (g.after.board(), g.facts.them.color);
    let stops: Bitboard =
        passed(board, them).into_iter().filter_map(|pawn| stop(pawn, them)).collect();
    i32::from(stops.contains(g.to)) - i32::from(stops.contains(g.from))
}

/// Passed pawns of either side that a rook on `square` stands behind, with nothing between.
fn behind(board: &Board, square: Square) -> Bitboard {
    let seen = attacks::rook_attacks(square, board.occupied()) & Bitboard::from_file(square.file());
    let ahead_of = |pawn: Square, color| relative_rank(pawn, color) > relative_rank(square, color);
    let of = |color| passed(board, color).into_iter().filter(move |&pawn| ahead_of(pawn, color));
    (of(Color::White).collect::<Bitboard>() | of(Color::Black).collect::<Bitboard>()) & seen
}

fn rook_behind(g: &Glance) -> i32 {
    if g.role != Role::Rook {
        return 0;
    }
    let newly = behind(g.after.board(), g.to) & !behind(g.before.position.board(), g.from);
    i32::from(newly.any())
}

fn promotion_threat(g: &Glance) -> i32 {
    let us = g.before.us();
    let seventh = g.role == Role::Pawn && relative_rank(g.to, us) == 6 && !g.lands_loose();
    let shut = g.after.board().occupied() | g.facts.them.attacks;
    i32::from(seventh && stop(g.to, us).is_some_and(|last| !shut.contains(last)))
}
