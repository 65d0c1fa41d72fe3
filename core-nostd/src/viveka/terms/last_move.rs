//! Backward in time: what the opponent's last move did, and how the candidate answers it.
use shakmaty::{Bitboard, Position as _, Square, attacks};

use super::{Term, threats::target_value};
use crate::{
    exchange::piece_points,
    viveka::{
        facts::dearest,
        glance::{Glance, pawns},
    },
};

pub(super) const ROWS: &[Term] = &[
    term!(
        "recapture",
        glance,
        good,
        recapture,
        "1 if the piece that just moved is taken",
        "takes the piece that just moved"
    ),
    term!(
        "answers_threat",
        glance,
        good,
        answers_threat,
        "value in pawns of the pieces that the last move newly attacked and that are safe now",
        "saves {n:pawn} from their last move"
    ),
    term!(
        "ignores_threat",
        glance,
        bad,
        ignores_threat,
        "value in pawns of the dearest piece that the last move newly attacked and that stays loose",
        "leaves {n:pawn} attacked by their last move"
    ),
    term!(
        "blocks_threat",
        glance,
        good,
        blocks_threat,
        "1 if the moved piece saves one that the last move newly attacked, by stepping between",
        "blocks the attack of their last move"
    ),
    term!(
        "counterattack",
        glance,
        either,
        counterattack,
        "1 if a threat of the last move stays and the moved piece attacks as much",
        "answers the attack with an attack on as much"
    ),
    term!(
        "attacks_mover",
        glance,
        good,
        attacks_mover,
        "1 if the moved piece newly attacks the piece that just moved and could win it",
        "attacks the piece that just moved"
    ),
    term!(
        "unguarded_square",
        glance,
        good,
        unguarded_square,
        "1 if the move lands, without a capture, where the piece that just moved kept watch",
        "uses {to}, which their last move left unguarded"
    ),
    term!(
        "takes_unguarded",
        glance,
        good,
        takes_unguarded,
        "value in pawns of the captured piece, if the last move took its only guard away",
        "takes what their last move left unguarded, {n:pawn}"
    ),
];

fn recapture(g: &Glance) -> i32 {
    i32::from(g.mv.is_capture() && g.before.last.is_some_and(|last| last.to == g.mv.to()))
}

/// Whether the piece that stood on `square` before the move is loose after it.
fn still_loose(g: &Glance, square: Square) -> bool {
    if square == g.from { g.lands_loose() } else { g.facts.our_loose.contains(square) }
}

/// Pieces that the last move newly attacked, other than the moved one, and that stay loose.
fn ignored(g: &Glance) -> Bitboard {
    (g.before.last_change().threatened & g.facts.our_loose).without(g.from)
}

fn answers_threat(g: &Glance) -> i32 {
    let board = g.before.position.board();
    let saved = g.before.last_change().threatened.into_iter().filter(|&s| !still_loose(g, s));
    saved.filter_map(|square| board.role_at(square)).map(|role| pawns(piece_points(role))).sum()
}

fn ignores_threat(g: &Glance) -> i32 {
    pawns(dearest(g.after.board(), ignored(g)))
}

fn blocks_threat(g: &Glance) -> i32 {
    let (board, them) = (g.before.position.board(), &g.before.facts.them);
    let blocked = |square: Square| {
        let snipers = board.attacks_to(square, them.color, board.occupied()) & board.sliders();
        snipers.into_iter().any(|sniper| attacks::between(square, sniper).contains(g.to))
    };
    let saved = g.before.last_change().threatened & !g.facts.our_loose;
    i32::from(saved.without(g.from).into_iter().any(blocked))
}

fn counterattack(g: &Glance) -> i32 {
    let left = ignores_threat(g);
    i32::from(left > 0 && target_value(g) >= left)
}

fn attacks_mover(g: &Glance) -> i32 {
    let newly = g.after.board().attacks_from(g.to) & g.facts.their_loose;
    let newly = newly & !g.before.position.board().attacks_from(g.from);
    i32::from(g.before.last.is_some_and(|last| newly.contains(last.to)))
}

fn unguarded_square(g: &Glance) -> i32 {
    i32::from(!g.mv.is_capture() && g.before.last_change().unguarded.contains(g.to))
}

fn takes_unguarded(g: &Glance) -> i32 {
    let victim = g.mv.capture().map_or(0, |role| pawns(piece_points(role)));
    if g.before.last_change().unguarded.contains(g.to) { victim } else { 0 }
}
