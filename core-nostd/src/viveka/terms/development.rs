//! Development and castling.
use shakmaty::{Bitboard, Board, Chess, Color, Position as _, Role, Square};

use super::Term;
use crate::viveka::{
    facts::{FULL_PHASE, rank_of, relative_rank},
    glance::Glance,
};

pub(super) const ROWS: &[Term] = &[
    term!(
        "development",
        glance,
        good,
        development,
        "1 if a knight or bishop leaves its first square",
        "develops the {piece}"
    ),
    term!(
        "undeveloped_queen",
        glance,
        bad,
        early_queen,
        "minor pieces still at home when the queen moves out",
        "moves the queen with {n:minor piece} at home"
    ),
    term!("castles", glance, good, castles, "1 for castling", "castles"),
    term!(
        "loses_castling",
        glance,
        bad,
        loses_castling,
        "castling rights given up without castling",
        "gives up {n:castling right}"
    ),
];

/// Knights and bishops of `color` on their first squares.
pub(super) fn at_home(board: &Board, color: Color) -> Bitboard {
    let minors = (board.knights() | board.bishops()) & board.by_color(color);
    let files = Bitboard::from_square(Square::B1) | Square::C1 | Square::F1 | Square::G1;
    minors & color.fold_wb(files, files.flip_vertical())
}

fn development(g: &Glance) -> i32 {
    let home = at_home(g.before.position.board(), g.before.us());
    i32::from(g.before.phase * 2 > FULL_PHASE && home.contains(g.from))
}

fn early_queen(g: &Glance) -> i32 {
    let out = g.role == Role::Queen && relative_rank(g.to, g.before.us()) >= 2;
    let home = at_home(g.before.position.board(), g.before.us()).count() as i32;
    if out { home } else { 0 }
}

fn castles(g: &Glance) -> i32 {
    i32::from(g.mv.is_castle())
}

fn loses_castling(g: &Glance) -> i32 {
    if g.mv.is_castle() {
        return 0;
    }
    let rights = |position: &Chess| {
        let home = rank_of(0, g.before.us());
        (position.castles().castling_rights() & home).count() as i32
    };
    rights(g.before.position) - rights(&g.after)
}
