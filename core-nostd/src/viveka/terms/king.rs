//! The safety of both kings.
use shakmaty::{Bitboard, Position as _, Role};

use crate::viveka::{
    facts::{FULL_PHASE, Side, centrality, neighbours, rank_of, relative_rank},
    glance::Glance,
};

pub(super) fn walk(g: &Glance) -> i32 {
    let quarter = FULL_PHASE / 4;
    if g.role == Role::King && !g.mv.is_castle() { g.before.phase / quarter } else { 0 }
}

pub(super) fn active(g: &Glance) -> i32 {
    let third = FULL_PHASE / 3;
    let endgame = (FULL_PHASE - g.before.phase) / third;
    if g.role == Role::King && !g.mv.is_castle() {
        (centrality(g.to) - centrality(g.from)) * endgame
    } else {
        0
    }
}

/// Squares round `king`'s king that `attacker` attacks.
fn pressure(king: &Side, attacker: &Side) -> i32 {
    (king.king_ring() & attacker.attacks).count() as i32
}

pub(super) fn attack(g: &Glance) -> i32 {
    let before = &g.before.facts;
    pressure(&g.facts.them, &g.facts.us) - pressure(&before.them, &before.us)
}

pub(super) fn exposure(g: &Glance) -> i32 {
    let before = &g.before.facts;
    pressure(&g.facts.us, &g.facts.them) - pressure(&before.us, &before.them)
}

/// Pawns on the two ranks before the king, on its own and the neighbouring files.
fn shield(board: &shakmaty::Board, side: &Side) -> i32 {
    let rank = relative_rank(side.king, side.color);
    let ranks = (rank + 1..(rank + 3).min(8))
        .fold(Bitboard::EMPTY, |all, r| all | rank_of(r as u32, side.color));
    let files = Bitboard::from_file(side.king.file()) | neighbours(side.king.file());
    (board.pawns() & side.pieces & ranks & files).count() as i32
}

pub(super) fn shelter(g: &Glance) -> i32 {
    if 2 * g.before.phase <= FULL_PHASE {
        return 0;
    }
    let before = shield(g.before.position.board(), &g.before.facts.us);
    shield(g.after.board(), &g.facts.us) - before
}
