//! Backward in time: what the opponent's last move did, and how the candidate answers it.
use shakmaty::{Bitboard, Position as _, Square, attacks};

use super::{
    Term,
    material::taken,
    threats::{target_value, targets},
};
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
        "takes {theirs_before}, which just moved" => taken
    ),
    term!(
        "answers_threat",
        glance,
        good,
        answers_threat,
        "value in pawns of the pieces that the last move newly attacked and that are safe now",
        "answers the threat to {ours_before}" => answered
    ),
    term!(
        "ignores_threat",
        glance,
        bad,
        ignores_threat,
        "value in pawns of the dearest piece that the last move newly attacked and still is loose",
        "leaves {ours} under attack" => ignored
    ),
    term!(
        "blocks_threat",
        glance,
        good,
        blocks_threat,
        "1 if the moved piece saves one that the last move newly attacked, by stepping between",
        "shields {ours_before} from {theirs_before}" => blocked
    ),
    term!(
        "counterattack",
        glance,
        either,
        counterattack,
        "1 if a threat of the last move stays and the moved piece attacks as much",
        "meets the attack on {ours} with one on {theirs}" => counterattacked
    ),
    term!(
        "attacks_mover",
        glance,
        good,
        attacks_mover,
        "1 if the moved piece newly attacks the piece that just moved and could win it",
        "attacks {theirs}, which just moved" => last_mover
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
        "takes {theirs_before}, which their last move left unguarded" => taken
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

/// Pieces that the last move newly attacked and that are safe now, where they stood.
fn answered(g: &Glance) -> Bitboard {
    let threatened = g.before.last_change().threatened;
    threatened.into_iter().filter(|&square| !still_loose(g, square)).collect()
}

fn answers_threat(g: &Glance) -> i32 {
    let board = g.before.position.board();
    let saved = answered(g).into_iter().filter_map(|square| board.role_at(square));
    saved.map(|role| pawns(piece_points(role))).sum()
}

fn ignores_threat(g: &Glance) -> i32 {
    pawns(dearest(g.after.board(), ignored(g)))
}

/// Pieces that the last move newly attacked and that the moved piece shields, with their
/// attackers behind it.
fn blocked(g: &Glance) -> Bitboard {
    let (board, them) = (g.before.position.board(), &g.before.facts.them);
    let saved = g.before.last_change().threatened & !g.facts.our_loose;
    let pair = |square: Square| {
        let snipers = board.attacks_to(square, them.color, board.occupied()) & board.sliders();
        let cut = |&sniper: &Square| attacks::between(square, sniper).contains(g.to);
        let cut: Bitboard = snipers.into_iter().filter(cut).collect();
        if cut.any() { cut | square } else { cut }
    };
    saved.without(g.from).into_iter().fold(Bitboard::EMPTY, |all, square| all | pair(square))
}

fn blocks_threat(g: &Glance) -> i32 {
    i32::from(blocked(g).any())
}

fn counterattack(g: &Glance) -> i32 {
    let left = ignores_threat(g);
    i32::from(left > 0 && target_value(g) >= left)
}

fn counterattacked(g: &Glance) -> Bitboard {
    ignored(g) | targets(g)
}

/// The piece that moved last.
fn last_mover(g: &Glance) -> Bitboard {
    g.before.last.map_or(Bitboard::EMPTY, |last| last.to.into())
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
