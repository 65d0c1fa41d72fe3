//! What hangs: pieces that the other side could win next, counted by exchanges.
use shakmaty::{Bitboard, Board, Position as _};

use super::Term;
use crate::{
    square_exchange::hangs,
    viveka::{
        facts::{Side, dearest},
        glance::{Glance, pawns},
    },
};

pub(super) const ROWS: &[Term] = &[
    term!(
        "threat_value",
        worked_out,
        good,
        threat_value,
        "the most that hangs on one square of theirs, in pawns",
        "leaves {theirs} hanging" => threatened
    ),
    term!(
        "double_threat",
        worked_out,
        good,
        double_threat,
        "the second most that hangs on one square of theirs, in pawns",
        "makes two threats, on {theirs}" => threatened_both
    ),
    term!(
        "check_threat",
        worked_out,
        good,
        check_threat,
        "the most that hangs on one square of theirs after a safe check, in pawns",
        "gives check and hits {theirs} as well" => threatened
    ),
    term!(
        "two_hanging",
        worked_out,
        bad,
        two_hanging,
        "the second most that hangs on one square of ours, in pawns",
        "leaves {ours} hanging at once" => both_hanging
    ),
    term!(
        "loose_value",
        glance,
        bad,
        loose_value,
        "value in pawns of our dearest loose piece, apart from the moved one",
        "leaves {ours} loose" => loose
    ),
];

/// What the enemy wins on one square, in points, and the square.
type Hanging = (i32, Bitboard);

/// The most and the second most that `enemy` wins on one square of `side`.
fn hanging(board: &Board, side: &Side, enemy: &Side) -> [Hanging; 2] {
    let attacked = (side.pieces & enemy.attacks).into_iter();
    let values = attacked.map(|square| (hangs(board, square), Bitboard::from_square(square)));
    values.fold([(0, Bitboard::EMPTY); 2], |[most, second], next| {
        if next.0 > most.0 {
            [next, most]
        } else if next.0 > second.0 {
            [most, next]
        } else {
            [most, second]
        }
    })
}

/// What hangs on their squares after the move.
fn theirs(g: &Glance) -> [Hanging; 2] {
    hanging(g.after.board(), &g.facts.them, &g.facts.us)
}

/// What hangs on our squares after the move.
fn ours(g: &Glance) -> [Hanging; 2] {
    hanging(g.after.board(), &g.facts.us, &g.facts.them)
}

fn threat_value(g: &Glance) -> i32 {
    pawns(theirs(g)[0].0)
}

fn threatened(g: &Glance) -> Bitboard {
    theirs(g)[0].1
}

fn double_threat(g: &Glance) -> i32 {
    pawns(theirs(g)[1].0)
}

fn threatened_both(g: &Glance) -> Bitboard {
    let [most, second] = theirs(g);
    most.1 | second.1
}

fn check_threat(g: &Glance) -> i32 {
    if g.gives_check() && !g.lands_loose() { threat_value(g) } else { 0 }
}

fn two_hanging(g: &Glance) -> i32 {
    pawns(ours(g)[1].0)
}

fn both_hanging(g: &Glance) -> Bitboard {
    let [most, second] = ours(g);
    most.1 | second.1
}

/// Our loose pieces, apart from the moved one.
fn loose(g: &Glance) -> Bitboard {
    g.facts.our_loose.without(g.to)
}

fn loose_value(g: &Glance) -> i32 {
    pawns(dearest(g.after.board(), loose(g)))
}
