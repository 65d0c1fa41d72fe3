//! Pawn structure: lasting weaknesses, and files that open.
use shakmaty::{Bitboard, Board, Color, File, Position as _};

use super::Term;
use crate::viveka::{
    facts::{ahead, neighbours, pawn_attacks, pawn_faults, rank_of, stop},
    glance::Glance,
};

pub(super) const ROWS: &[Term] = &[
    term!(
        "pawn_faults",
        glance,
        bad,
        faults,
        "our doubled and isolated pawns minus theirs, after minus before",
        "worsens the pawns by {n:fault}",
        "betters the pawns by {n:fault}"
    ),
    term!(
        "backward_pawns",
        glance,
        bad,
        backward_pawns,
        "our backward pawns minus theirs, after minus before",
        "gets {n:more backward pawn} on balance",
        "gets {n:fewer backward pawn} on balance"
    ),
    term!(
        "pawn_islands",
        glance,
        bad,
        pawn_islands,
        "our groups of pawns on neighbouring files minus theirs, after minus before",
        "splits the pawns into {n:more group} on balance",
        "joins {n:group} of pawns on balance"
    ),
    term!(
        "holes",
        glance,
        bad,
        holes,
        "squares of the c- to f-files, ranks three and four, no longer within reach of our pawns",
        "gives up {n:square} in the centre that no pawn will guard again",
        "brings {n:square} in the centre back under the pawns"
    ),
    term!(
        "opens_files",
        glance,
        either,
        opens_files,
        "files without pawns, after minus before, while we have a rook",
        "opens {n:file}",
        "closes {n:file}"
    ),
];

/// How a count for us minus that for them changes by the move.
fn change(g: &Glance, count: fn(&Board, Color) -> i32) -> i32 {
    let us = g.before.us();
    let balance = |board: &Board| count(board, us) - count(board, !us);
    balance(g.after.board()) - balance(g.before.position.board())
}

fn faults(g: &Glance) -> i32 {
    change(g, pawn_faults)
}

/// Pawns of `color` whose neighbours have all gone ahead, and whose next square an enemy pawn
/// attacks.
fn backward(board: &Board, color: Color) -> i32 {
    let (pawns, danger) = (board.pawns() & board.by_color(color), pawn_attacks(board, !color));
    let lags = |square: &shakmaty::Square| {
        let beside = pawns & neighbours(square.file());
        let attacked = stop(*square, color).is_some_and(|next| danger.contains(next));
        beside.any() && beside.is_subset(ahead(*square, color)) && attacked
    };
    pawns.into_iter().filter(lags).count() as i32
}

fn backward_pawns(g: &Glance) -> i32 {
    change(g, backward)
}

/// Groups of neighbouring files with pawns of `color`.
fn islands(board: &Board, color: Color) -> i32 {
    let pawns = board.pawns() & board.by_color(color);
    let on = |file: Option<File>| file.is_some_and(|f| pawns.intersects(Bitboard::from_file(f)));
    File::ALL.into_iter().filter(|&f| on(Some(f)) && !on(f.offset(-1))).count() as i32
}

fn pawn_islands(g: &Glance) -> i32 {
    change(g, islands)
}

/// Squares of the c- to f-files on the third and fourth rank that no pawn of `color` can come to
/// guard.
fn unguarded(board: &Board, color: Color) -> i32 {
    let files = [File::C, File::D, File::E, File::F];
    let files = files.into_iter().fold(Bitboard::EMPTY, |all, f| all | Bitboard::from_file(f));
    let pawns = board.pawns() & board.by_color(color);
    let guards =
        |square: shakmaty::Square| pawns & neighbours(square.file()) & ahead(square, !color);
    let squares = files & (rank_of(2, color) | rank_of(3, color));
    squares.into_iter().filter(|&square| guards(square).is_empty()).count() as i32
}

fn holes(g: &Glance) -> i32 {
    let us = g.before.us();
    unguarded(g.after.board(), us) - unguarded(g.before.position.board(), us)
}

/// Files without a pawn.
fn open_files(board: &Board) -> i32 {
    let open = |file: &File| board.pawns().is_disjoint(Bitboard::from_file(*file));
    File::ALL.into_iter().filter(open).count() as i32
}

fn opens_files(g: &Glance) -> i32 {
    let rooks = g.after.board().rooks() & g.facts.us.pieces;
    let change = open_files(g.after.board()) - open_files(g.before.position.board());
    if rooks.any() { change } else { 0 }
}
