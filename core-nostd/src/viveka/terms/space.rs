//! Space: squares held, in the centre and beyond the middle.
use shakmaty::{Bitboard, Board, Color, File, Position as _, Square};

use super::Term;
use crate::viveka::{
    facts::{Side, rank_of, relative_rank},
    glance::Glance,
};

pub(super) const ROWS: &[Term] = &[
    term!(
        "space",
        glance,
        good,
        space,
        "squares behind the pawns on the c- to f-files, ours minus theirs, after minus before",
        "gains {n:square} of space",
        "gives up {n:square} of space"
    ),
    term!(
        "territory",
        glance,
        good,
        territory,
        "squares in their half that we attack, after minus before",
        "attacks {n:more square} in their half",
        "attacks {n:square} fewer in their half"
    ),
    term!(
        "their_territory",
        glance,
        bad,
        their_territory,
        "squares in our half that they attack, after minus before",
        "lets them attack {n:more square} in our half",
        "keeps them from {n:square} in our half"
    ),
    term!(
        "centre_control",
        glance,
        good,
        centre_control,
        "our attacks on d4, e4, d5 and e5, each piece counted, after minus before",
        "bears {n:more time} on the centre",
        "bears {n:time} fewer on the centre"
    ),
    term!(
        "their_centre_control",
        glance,
        bad,
        their_centre_control,
        "their attacks on d4, e4, d5 and e5, each piece counted, after minus before",
        "lets them bear {n:more time} on the centre",
        "takes {n:attack} of theirs off the centre"
    ),
];

/// Squares behind the foremost pawns of `color` on the c- to f-files.
fn held(board: &Board, color: Color) -> i32 {
    let pawns = board.pawns() & board.by_color(color);
    let foremost = |file: File| {
        let ranks = (pawns & Bitboard::from_file(file)).into_iter();
        ranks.map(|square| relative_rank(square, color)).max().unwrap_or(0)
    };
    [File::C, File::D, File::E, File::F].into_iter().map(foremost).sum()
}

fn space(g: &Glance) -> i32 {
    let us = g.before.us();
    let balance = |board: &Board| held(board, us) - held(board, !us);
    balance(g.after.board()) - balance(g.before.position.board())
}

/// Squares beyond the middle that `side` attacks.
fn beyond(side: &Side) -> i32 {
    let half = (4..8).fold(Bitboard::EMPTY, |all, rank| all | rank_of(rank, side.color));
    (side.attacks & half).count() as i32
}

fn territory(g: &Glance) -> i32 {
    beyond(&g.facts.us) - beyond(&g.before.facts.us)
}

fn their_territory(g: &Glance) -> i32 {
    beyond(&g.facts.them) - beyond(&g.before.facts.them)
}

/// Attacks of `color` on the four squares of the centre, each piece counted.
fn central_attacks(board: &Board, color: Color) -> i32 {
    let on = |square| board.attacks_to(square, color, board.occupied()).count() as i32;
    [Square::D4, Square::E4, Square::D5, Square::E5].into_iter().map(on).sum()
}

/// How the attacks of `color` on the centre change.
fn control(g: &Glance, color: Color) -> i32 {
    central_attacks(g.after.board(), color) - central_attacks(g.before.position.board(), color)
}

fn centre_control(g: &Glance) -> i32 {
    control(g, g.before.us())
}

fn their_centre_control(g: &Glance) -> i32 {
    control(g, !g.before.us())
}
