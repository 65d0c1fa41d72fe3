//! Pawn moves.
use shakmaty::{Bitboard, File, Position as _, Role, Square, attacks};

use super::Term;
use crate::viveka::{
    facts::{neighbours, stop},
    glance::Glance,
};

pub(super) const ROWS: &[Term] = &[
    term!(
        "centre_pawn",
        glance,
        good,
        centre_pawn,
        "1 if a pawn lands on d4, e4, d5 or e5",
        "puts a pawn in the centre"
    ),
    term!(
        "flank_pawn",
        glance,
        either,
        flank_pawn,
        "1 if an a-, b-, g- or h-pawn moves in the middlegame",
        "moves a flank pawn"
    ),
    term!(
        "pawn_hits",
        glance,
        good,
        pawn_hits,
        "pieces that the moved pawn attacks, if it cannot simply be taken",
        "hits {theirs} with the pawn" => hits
    ),
    term!(
        "pawn_fork",
        glance,
        good,
        pawn_fork,
        "1 if the moved pawn attacks two pieces, king included, and cannot simply be taken",
        "forks {theirs} with the pawn" => safely_hit
    ),
    term!(
        "lever",
        glance,
        either,
        lever,
        "1 if the moved pawn attacks a pawn",
        "offers a trade of pawns"
    ),
    term!(
        "fixes_pawn",
        glance,
        either,
        fixes_pawn,
        "1 if the moved pawn stops before an enemy pawn",
        "fixes an enemy pawn"
    ),
    term!(
        "takes_to_centre",
        glance,
        good,
        takes_to_centre,
        "1 if a pawn takes toward the centre, -1 if away from it",
        "takes toward the centre",
        "takes away from the centre"
    ),
    term!("en_passant", glance, either, en_passant, "1 for en passant", "takes en passant"),
    term!(
        "pawn_storm",
        glance,
        good,
        pawn_storm,
        "ranks a pawn advances on their king, ours being elsewhere, in the middlegame",
        "storms their king with a pawn"
    ),
    term!(
        "pawn_contact",
        glance,
        good,
        pawn_contact,
        "1 if the moved pawn stands beside or is held by another",
        "keeps the pawns together"
    ),
];

fn centre_pawn(g: &Glance) -> i32 {
    let centre = Bitboard::from_square(Square::D4) | Square::E4 | Square::D5 | Square::E5;
    i32::from(g.role == Role::Pawn && centre.contains(g.to))
}

fn flank_pawn(g: &Glance) -> i32 {
    let flank = matches!(g.from.file(), File::A | File::B | File::G | File::H);
    i32::from(g.role == Role::Pawn && flank && g.before.is_middlegame())
}

/// What the moved pawn attacks, if the move leaves a pawn on the board.
fn pawn_reach(g: &Glance) -> Bitboard {
    let pawn = g.landed_role() == Role::Pawn;
    if pawn {
        attacks::pawn_attacks(g.before.us(), g.to) & g.facts.them.pieces
    } else {
        Bitboard::EMPTY
    }
}

/// Pieces and king that the moved pawn attacks, if it cannot simply be taken.
fn safely_hit(g: &Glance) -> Bitboard {
    if g.lands_loose() { Bitboard::EMPTY } else { pawn_reach(g) & !g.after.board().pawns() }
}

fn hits(g: &Glance) -> Bitboard {
    safely_hit(g).without(g.facts.them.king)
}

fn pawn_hits(g: &Glance) -> i32 {
    hits(g).count() as i32
}

fn pawn_fork(g: &Glance) -> i32 {
    i32::from(safely_hit(g).more_than_one())
}

fn lever(g: &Glance) -> i32 {
    i32::from(!pawn_reach(g).is_disjoint(g.after.board().pawns()))
}

fn fixes_pawn(g: &Glance) -> i32 {
    let theirs = g.after.board().pawns() & g.facts.them.pieces;
    let stopped = stop(g.to, g.before.us()).is_some_and(|next| theirs.contains(next));
    i32::from(g.role == Role::Pawn && stopped)
}

fn takes_to_centre(g: &Glance) -> i32 {
    let from_edge = |file: File| file.to_u32().min(7 - file.to_u32()) as i32;
    if g.role == Role::Pawn { from_edge(g.to.file()) - from_edge(g.from.file()) } else { 0 }
}

fn en_passant(g: &Glance) -> i32 {
    i32::from(g.mv.is_en_passant())
}

fn pawn_storm(g: &Glance) -> i32 {
    let file = g.to.file();
    let toward = file.distance(g.facts.them.king.file()) <= 1;
    let away = file.distance(g.facts.us.king.file()) >= 3;
    let storms = g.role == Role::Pawn && g.before.is_middlegame() && toward && away;
    if storms { g.from.rank().distance(g.to.rank()) as i32 } else { 0 }
}

fn pawn_contact(g: &Glance) -> i32 {
    let beside = neighbours(g.to.file()) & Bitboard::from_rank(g.to.rank());
    let pawns = g.after.board().pawns() & g.facts.us.pieces;
    let held = g.facts.us.attacks_by(Role::Pawn).contains(g.to);
    i32::from(g.landed_role() == Role::Pawn && (held || !beside.is_disjoint(pawns)))
}
