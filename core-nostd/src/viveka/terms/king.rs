//! The safety of both kings.
use shakmaty::{Bitboard, Position as _, Role};

use super::Term;
use crate::viveka::{
    facts::{FULL_PHASE, Side, centrality, neighbours, rank_of, relative_rank},
    glance::Glance,
};

pub(super) const ROWS: &[Term] = &[
    term!(
        "king_walk",
        glance,
        bad,
        walk,
        "king move other than castling, by phase from 0 to 4",
        "moves the king with {n:quarter} of the pieces still on the board"
    ),
    term!(
        "king_active",
        glance,
        good,
        active,
        "steps of the king toward the centre in the endgame, by phase",
        "brings the king toward the centre for the endgame, by {n}",
        "takes the king from the centre in the endgame, by {n}"
    ),
    term!(
        "king_attack",
        glance,
        good,
        attack,
        "squares round their king that we attack, after minus before",
        "attacks {n:more square} round their king",
        "attacks {n:square} fewer round their king"
    ),
    term!(
        "king_exposure",
        glance,
        bad,
        exposure,
        "squares round our king that they attack, after minus before",
        "lets them attack {n:more square} round our king",
        "frees {n:square} round our king"
    ),
    term!(
        "king_shelter",
        glance,
        good,
        shelter,
        "pawns before our king, after minus before, in the middlegame",
        "has {n:more pawn} before our king",
        "has {n:fewer pawn} before our king"
    ),
];

fn walk(g: &Glance) -> i32 {
    let quarter = FULL_PHASE / 4;
    if g.role == Role::King && !g.mv.is_castle() { g.before.phase / quarter } else { 0 }
}

fn active(g: &Glance) -> i32 {
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

fn attack(g: &Glance) -> i32 {
    let before = &g.before.facts;
    pressure(&g.facts.them, &g.facts.us) - pressure(&before.them, &before.us)
}

fn exposure(g: &Glance) -> i32 {
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

fn shelter(g: &Glance) -> i32 {
    if !g.before.is_middlegame() {
        return 0;
    }
    let before = shield(g.before.position.board(), &g.before.facts.us);
    shield(g.after.board(), &g.facts.us) - before
}
