//! What hangs: pieces that the other side could win next, counted by exchanges.
use shakmaty::{Board, Position as _};

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
        "leaves {n:pawn} of theirs hanging"
    ),
    term!(
        "double_threat",
        worked_out,
        good,
        double_threat,
        "the second most that hangs on one square of theirs, in pawns",
        "makes two threats, the lesser on {n:pawn}"
    ),
    term!(
        "check_threat",
        worked_out,
        good,
        check_threat,
        "the most that hangs on one square of theirs after a safe check, in pawns",
        "gives check and hits {n:pawn} as well"
    ),
    term!(
        "two_hanging",
        worked_out,
        bad,
        two_hanging,
        "the second most that hangs on one square of ours, in pawns",
        "leaves a second piece hanging, {n:pawn}"
    ),
    term!(
        "loose_value",
        glance,
        bad,
        loose_value,
        "value in pawns of our dearest loose piece, apart from the moved one",
        "leaves a loose piece worth {n:pawn}"
    ),
];

/// The most and the second most that `enemy` wins on one square of `side`, in points.
fn hanging(board: &Board, side: &Side, enemy: &Side) -> (i32, i32) {
    let attacked = side.pieces & enemy.attacks;
    attacked.into_iter().map(|square| hangs(board, square)).fold((0, 0), |(most, second), value| {
        if value > most { (value, most) } else { (most, second.max(value)) }
    })
}

/// What hangs on their squares after the move: the most and the second most, in points.
fn theirs(g: &Glance) -> (i32, i32) {
    hanging(g.after.board(), &g.facts.them, &g.facts.us)
}

fn threat_value(g: &Glance) -> i32 {
    pawns(theirs(g).0)
}

fn double_threat(g: &Glance) -> i32 {
    pawns(theirs(g).1)
}

fn check_threat(g: &Glance) -> i32 {
    if g.gives_check() && !g.lands_loose() { pawns(theirs(g).0) } else { 0 }
}

fn two_hanging(g: &Glance) -> i32 {
    pawns(hanging(g.after.board(), &g.facts.us, &g.facts.them).1)
}

fn loose_value(g: &Glance) -> i32 {
    pawns(dearest(g.after.board(), g.facts.our_loose.without(g.to)))
}
