//! Material, captures and trades.
use shakmaty::{Bitboard, Board, Color, Position as _, Role};

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
        "wins {won}",
        "loses {lost}"
    ),
    term!(
        "exchange_one",
        glance,
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
        "gains {n:pawn} at once"
    ),
    term!("takes", glance, either, takes, "1 for any capture", "takes {theirs_before}" => taken),
    term!(
        "bad_capture",
        worked_out,
        bad,
        bad_capture,
        "1 for a capture that loses material once all captures are played out",
        "takes {theirs_before} at a loss" => taken
    ),
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
    term!(
        "trades_queens",
        worked_out,
        either,
        trades_queens,
        "1 if queens are traded evenly",
        "trades queens"
    ),
    term!(
        "trades_pawns",
        worked_out,
        either,
        trades_pawns,
        "even trade of pawns, by how many pawns the mover is ahead, at most 3",
        "trades pawns while {n:pawn} ahead",
        "trades pawns while {n:pawn} behind"
    ),
    term!(
        "bishop_for_knight",
        worked_out,
        either,
        bishop_for_knight,
        "1 if a bishop is traded evenly for a knight, -1 for the reverse",
        "gives a bishop for a knight",
        "gets a bishop for a knight"
    ),
    term!(
        "opposite_bishops",
        glance,
        good,
        opposite_bishops,
        "bishops left on opposite colours, by how many pawns the mover is behind, at most 3",
        "leaves bishops of opposite colours while {n:pawn} behind",
        "leaves bishops of opposite colours while {n:pawn} ahead"
    ),
];

fn exchange(g: &Glance) -> i32 {
    pawns(g.x_q())
}

fn exchange_one(g: &Glance) -> i32 {
    pawns(immediate_gain(g.mv) - hangs(g.after.board(), g.to))
}

/// The piece that the move takes, where it stood.
pub(super) fn taken(g: &Glance) -> Bitboard {
    g.before.facts.them.pieces & !g.facts.them.pieces
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

fn bad_capture(g: &Glance) -> i32 {
    i32::from(g.mv.is_capture() && g.x_q() < 0)
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

/// Whether `ours` takes `theirs` and the exchanges come out even.
fn trades(g: &Glance, ours: Role, theirs: Role) -> bool {
    g.role == ours && g.mv.capture() == Some(theirs) && g.x_q() == 0
}

fn trades_queens(g: &Glance) -> i32 {
    i32::from(trades(g, Role::Queen, Role::Queen))
}

fn trades_pawns(g: &Glance) -> i32 {
    if trades(g, Role::Pawn, Role::Pawn) { pawns(g.before.balance).clamp(-3, 3) } else { 0 }
}

fn bishop_for_knight(g: &Glance) -> i32 {
    i32::from(trades(g, Role::Bishop, Role::Knight))
        - i32::from(trades(g, Role::Knight, Role::Bishop))
}

/// Whether each side has a single bishop, on squares of opposite colours.
fn opposite(board: &Board) -> bool {
    let bishop = |color| (board.bishops() & board.by_color(color)).single_square();
    let pair = bishop(Color::White).zip(bishop(Color::Black));
    pair.is_some_and(|(white, black)| white.is_light() != black.is_light())
}

fn opposite_bishops(g: &Glance) -> i32 {
    let newly = opposite(g.after.board()) && !opposite(g.before.position.board());
    if newly { -pawns(g.before.balance).clamp(-3, 3) } else { 0 }
}
