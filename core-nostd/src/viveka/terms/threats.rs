//! Threats made and threats allowed, safety of the pieces, and what the opponent may do.
use shakmaty::{Bitboard, Board, Position as _, Role, Square, attacks};

use crate::{
    exchange::piece_points,
    viveka::glance::{Glance, pawns},
};

pub(super) fn mate(g: &Glance) -> i32 {
    i32::from(g.gives_check() && g.replies.legal == 0)
}

pub(super) fn recapture(g: &Glance) -> i32 {
    i32::from(g.mv.is_capture() && g.before.last_to == Some(g.mv.to()))
}

pub(super) fn rescue(g: &Glance) -> i32 {
    let saved = g.before.facts.our_loose.contains(g.from) && !g.lands_loose();
    if saved { pawns(piece_points(g.role)) } else { 0 }
}

pub(super) fn leaves_loose(g: &Glance) -> i32 {
    let before = g.before.facts.our_loose.without(g.from).count();
    g.facts.our_loose.without(g.to).count() as i32 - before as i32
}

pub(super) fn lands_loose(g: &Glance) -> i32 {
    if g.lands_loose() { pawns(piece_points(g.landed_role())) } else { 0 }
}

pub(super) fn pawn_chases(g: &Glance) -> i32 {
    let them = &g.facts.them;
    let reach = them.attacks_by(Role::Pawn) | pawn_push_attacks(g);
    i32::from(!matches!(g.role, Role::Pawn | Role::King) && reach.contains(g.to))
}

/// Squares their pawns would attack after one push onto an empty square.
fn pawn_push_attacks(g: &Glance) -> Bitboard {
    let board = g.after.board();
    let them = g.facts.them.color;
    let step = them.fold_wb(8, -8);
    (board.pawns() & g.facts.them.pieces)
        .into_iter()
        .filter_map(|square| square.offset(step))
        .filter(|&stop| !board.occupied().contains(stop) && !g.facts.us.attacks.contains(stop))
        .fold(Bitboard::EMPTY, |all, stop| all | attacks::pawn_attacks(them, stop))
}

pub(super) fn new_targets(g: &Glance) -> i32 {
    let before = g.before.facts.their_loose.without(g.to).count();
    g.facts.their_loose.count() as i32 - before as i32
}

/// Their pieces that the moved piece attacks and that are loose or dearer than it.
fn victims(g: &Glance) -> Bitboard {
    let board = g.after.board();
    let own = piece_points(g.landed_role());
    let reach = board.attacks_from(g.to) & g.facts.them.pieces & !board.kings();
    let worth = |square: Square| {
        g.facts.their_loose.contains(square)
            || board.role_at(square).is_some_and(|role| piece_points(role) > own)
    };
    reach.into_iter().filter(|&square| worth(square)).collect()
}

pub(super) fn target_value(g: &Glance) -> i32 {
    let board = g.after.board();
    let old = g.before.position.board().attacks_from(g.from);
    victims(g)
        .without(old)
        .into_iter()
        .filter_map(|square| board.role_at(square))
        .map(|role| pawns(piece_points(role)))
        .max()
        .unwrap_or(0)
}

pub(super) fn fork(g: &Glance) -> i32 {
    let king = g.after.board().attacks_from(g.to).contains(g.facts.them.king);
    i32::from(victims(g).count() + usize::from(king) >= 2)
}

pub(super) fn mate_threat(g: &Glance) -> i32 {
    i32::from(g.mate_threat)
}

pub(super) fn check(g: &Glance) -> i32 {
    i32::from(g.gives_check())
}

pub(super) fn safe_check(g: &Glance) -> i32 {
    i32::from(g.gives_check() && !g.lands_loose())
}

pub(super) fn allows_mate(g: &Glance) -> i32 {
    i32::from(g.replies.mates > 0)
}

pub(super) fn allows_checks(g: &Glance) -> i32 {
    g.replies.safe_checks
}

pub(super) fn safe_replies(g: &Glance) -> i32 {
    g.replies.safe
}

pub(super) fn replies(g: &Glance) -> i32 {
    g.replies.legal
}

pub(super) fn few_replies(g: &Glance) -> i32 {
    i32::from(g.replies.safe <= 2)
}

/// Pieces of the king's own side that alone stand between it and an enemy slider.
fn pinned(board: &Board, king: Square) -> i32 {
    let Some(color) = board.color_at(king) else { return 0 };
    let enemy = board.by_color(!color);
    let snipers = (attacks::rook_attacks(king, Bitboard::EMPTY) & board.rooks_and_queens()
        | attacks::bishop_attacks(king, Bitboard::EMPTY) & board.bishops_and_queens())
        & enemy;
    snipers
        .into_iter()
        .map(|sniper| attacks::between(king, sniper) & board.occupied())
        .filter(|between| between.count() == 1 && between.is_subset(board.by_color(color)))
        .count() as i32
}

pub(super) fn own_pins(g: &Glance) -> i32 {
    pinned(g.after.board(), g.facts.us.king)
        - pinned(g.before.position.board(), g.before.facts.us.king)
}

pub(super) fn trapped(g: &Glance) -> i32 {
    let role = g.landed_role();
    if matches!(role, Role::Pawn | Role::King) {
        return 0;
    }
    let them = &g.facts.them;
    let exits = g.after.board().attacks_from(g.to) & !g.facts.us.pieces;
    i32::from((exits & !them.attacks_by_less(role) & !them.attacks).is_empty())
}

pub(super) fn defends(g: &Glance) -> i32 {
    let board = g.before.position.board();
    let attacked = g.facts.us.pieces & g.facts.them.attacks & !board.kings();
    let newly = g.after.board().attacks_from(g.to) & !board.attacks_from(g.from);
    (attacked & newly & g.before.facts.our_loose).without(g.from).count() as i32
}
