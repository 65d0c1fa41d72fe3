//! Which piece moves, how far, and the squares where each kind is safe.
use shakmaty::{Bitboard, Board, Color, Position as _, Role};

use super::Term;
use crate::viveka::{
    facts::{Side, relative_rank},
    glance::Glance,
};

pub(super) const ROWS: &[Term] = &[
    term!("moves_pawn", glance, either, moves_pawn, "1 if a pawn moves", "moves a pawn"),
    term!("moves_knight", glance, either, moves_knight, "1 if a knight moves", "moves a knight"),
    term!("moves_bishop", glance, either, moves_bishop, "1 if a bishop moves", "moves a bishop"),
    term!("moves_rook", glance, either, moves_rook, "1 if a rook moves", "moves a rook"),
    term!("moves_queen", glance, either, moves_queen, "1 if the queen moves", "moves the queen"),
    term!("moves_king", glance, either, moves_king, "1 if the king moves", "moves the king"),
    term!(
        "advance",
        glance,
        either,
        advance,
        "ranks that a knight, bishop, rook or queen goes forward",
        "brings the {piece} {n:rank} forward",
        "takes the {piece} {n:rank} back"
    ),
    term!(
        "eighth_rank",
        glance,
        good,
        eighth_rank,
        "1 if a rook or queen reaches the eighth rank",
        "reaches the eighth rank"
    ),
    term!(
        "safe_knight_squares",
        glance,
        good,
        safe_knight_squares,
        "squares our knights reach out of cheaper pieces' reach, after minus before",
        "gives our knights {n:more safe square}",
        "takes {n:safe square} from our knights"
    ),
    term!(
        "safe_bishop_squares",
        glance,
        good,
        safe_bishop_squares,
        "squares our bishops reach out of cheaper pieces' reach, after minus before",
        "gives our bishops {n:more safe square}",
        "takes {n:safe square} from our bishops"
    ),
    term!(
        "safe_rook_squares",
        glance,
        good,
        safe_rook_squares,
        "squares our rooks reach out of cheaper pieces' reach, after minus before",
        "gives our rooks {n:more safe square}",
        "takes {n:safe square} from our rooks"
    ),
    term!(
        "safe_queen_squares",
        glance,
        good,
        safe_queen_squares,
        "squares our queens reach out of cheaper pieces' reach, after minus before",
        "gives our queen {n:more safe square}",
        "takes {n:safe square} from our queen"
    ),
    term!(
        "bishop_colour",
        glance,
        bad,
        bishop_colour,
        "our pawns on the colour of our only bishop, after minus before",
        "puts {n:pawn} on our bishop's colour",
        "takes {n:pawn} off our bishop's colour"
    ),
];

fn moves_pawn(g: &Glance) -> i32 {
    i32::from(g.role == Role::Pawn)
}

fn moves_knight(g: &Glance) -> i32 {
    i32::from(g.role == Role::Knight)
}

fn moves_bishop(g: &Glance) -> i32 {
    i32::from(g.role == Role::Bishop)
}

fn moves_rook(g: &Glance) -> i32 {
    i32::from(g.role == Role::Rook)
}

fn moves_queen(g: &Glance) -> i32 {
    i32::from(g.role == Role::Queen)
}

fn moves_king(g: &Glance) -> i32 {
    i32::from(g.role == Role::King && !g.mv.is_castle())
}

fn advance(g: &Glance) -> i32 {
    let us = g.before.us();
    match g.role {
        Role::Pawn | Role::King => 0,
        _ => relative_rank(g.to, us) - relative_rank(g.from, us),
    }
}

fn eighth_rank(g: &Glance) -> i32 {
    let us = g.before.us();
    let heavy = matches!(g.role, Role::Rook | Role::Queen);
    i32::from(heavy && relative_rank(g.to, us) == 7 && relative_rank(g.from, us) != 7)
}

/// Squares that pieces of `role` of `side` reach and nothing cheaper of `enemy` attacks, counted
/// with multiplicity.
fn safe(board: &Board, side: &Side, enemy: &Side, role: Role) -> i32 {
    let bad = side.pieces | enemy.attacks_by_less(role);
    let pieces = board.by_role(role) & side.pieces;
    pieces.into_iter().map(|square| (board.attacks_from(square) & !bad).count() as i32).sum()
}

/// How the safe squares of our pieces of `role` change.
fn safe_squares(g: &Glance, role: Role) -> i32 {
    let before = &g.before.facts;
    safe(g.after.board(), &g.facts.us, &g.facts.them, role)
        - safe(g.before.position.board(), &before.us, &before.them, role)
}

fn safe_knight_squares(g: &Glance) -> i32 {
    safe_squares(g, Role::Knight)
}

fn safe_bishop_squares(g: &Glance) -> i32 {
    safe_squares(g, Role::Bishop)
}

fn safe_rook_squares(g: &Glance) -> i32 {
    safe_squares(g, Role::Rook)
}

fn safe_queen_squares(g: &Glance) -> i32 {
    safe_squares(g, Role::Queen)
}

/// Pawns of `color` on the squares of its only bishop's colour; `None` without one such bishop.
fn on_bishop_colour(board: &Board, color: Color) -> Option<i32> {
    let own = board.by_color(color);
    let light = (board.bishops() & own).single_square()?.is_light();
    let squares = if light { Bitboard::LIGHT_SQUARES } else { Bitboard::DARK_SQUARES };
    Some((board.pawns() & own & squares).count() as i32)
}

fn bishop_colour(g: &Glance) -> i32 {
    let us = g.before.us();
    let after = on_bishop_colour(g.after.board(), us);
    after.zip(on_bishop_colour(g.before.position.board(), us)).map_or(0, |(a, b)| a - b)
}
