//! Material, captures and trades.
use shakmaty::{Position as _, Role};

use super::Term;
use crate::{
    exchange::{immediate_gain, piece_points},
    square_exchange::hangs,
    viveka::glance::{Glance, pawns},
};

pub(super) const ROWS: &[Term] = &[
    term!(
        "material",
        worked_out,
        good,
        exchange,
        "material kept after the move and all exchanges, in pawns",
        "wins {n:pawn} once all captures are played out",
        "loses {n:pawn} once all captures are played out"
    ),
    term!(
        "exchange_one",
        worked_out,
        good,
        exchange_one,
        "material kept on the landing square once the captures there are played out, in pawns",
        "wins {n:pawn} on {to}",
        "loses {n:pawn} on {to}"
    ),
    term!(
        "capture",
        glance,
        good,
        capture,
        "victim, less the captor if it can be retaken, in pawns, if positive",
        "takes {n:pawn} at a glance"
    ),
    term!("takes", glance, either, takes, "1 for any capture", "is a capture"),
    term!("promotes", glance, good, promotes, "1 for a queen promotion", "makes a queen"),
    term!(
        "simplify",
        worked_out,
        either,
        simplify,
        "even trade, by how many pawns the mover is ahead, at most 3",
        "trades pieces while {n:pawn} ahead",
        "trades pieces while {n:pawn} behind"
    ),
    term!(
        "draws",
        worked_out,
        good,
        draws,
        "stalemate, by how many pawns the mover is behind",
        "saves the draw from {n:pawn} behind",
        "gives away the win by stalemate, {n:pawn} ahead"
    ),
];

fn exchange(g: &Glance) -> i32 {
    pawns(g.x_q())
}

fn exchange_one(g: &Glance) -> i32 {
    pawns(immediate_gain(g.mv) - hangs(g.after.board(), g.to))
}

/// Victim and promotion, less the captor where they defend the square.
fn capture(g: &Glance) -> i32 {
    let defended = g.facts.them.attacks.contains(g.to);
    let risk = if defended { piece_points(g.role) } else { 0 };
    pawns((immediate_gain(g.mv) - risk).max(0))
}

fn takes(g: &Glance) -> i32 {
    i32::from(g.mv.is_capture())
}

fn promotes(g: &Glance) -> i32 {
    i32::from(g.mv.promotion() == Some(Role::Queen))
}

fn simplify(g: &Glance) -> i32 {
    let even_trade = g.mv.capture().is_some_and(|r| r != Role::Pawn) && g.x_q() == 0;
    if even_trade { pawns(g.before.balance).clamp(-3, 3) } else { 0 }
}

fn draws(g: &Glance) -> i32 {
    if !g.gives_check() && !g.has_reply() { -pawns(g.before.balance) } else { 0 }
}
