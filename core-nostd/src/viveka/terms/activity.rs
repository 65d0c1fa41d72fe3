//! Mobility, files and squares.
use shakmaty::{Bitboard, Position as _, Role, Square};

use super::Term;
use crate::viveka::{
    facts::{ahead, centrality, neighbours, relative_rank},
    glance::Glance,
};

pub(super) const ROWS: &[Term] = &[
    term!(
        "centralisation",
        glance,
        good,
        centralisation,
        "steps toward the centre of a knight, bishop or queen",
        "centralises the {piece} by {n:step}",
        "decentralises the {piece} by {n:step}"
    ),
    term!(
        "knight_centre",
        glance,
        good,
        knight_centre,
        "steps toward the centre of a knight",
        "brings the knight {n:step} toward the centre",
        "takes the knight {n:step} from the centre"
    ),
    term!(
        "mobility",
        glance,
        good,
        mobility,
        "squares our pieces reach, after minus before",
        "gives our pieces {n:more square}",
        "takes {n:square} from our pieces"
    ),
    term!(
        "their_mobility",
        glance,
        bad,
        their_mobility,
        "squares their pieces reach, after minus before",
        "gives their pieces {n:more square}",
        "takes {n:square} from their pieces"
    ),
    term!(
        "outpost",
        glance,
        good,
        outpost,
        "1 if a minor piece lands beyond the middle, held by a pawn and out of pawns' reach",
        "puts the {piece} on an outpost at {to}"
    ),
    term!(
        "open_file",
        glance,
        good,
        open_file,
        "how much more open the file is that a rook or queen moves to: open 2, half-open 1",
        "brings the {piece} to a more open file"
    ),
    term!(
        "seventh_rank",
        glance,
        good,
        seventh_rank,
        "1 if a rook or queen reaches the seventh rank",
        "brings the {piece} to the seventh rank"
    ),
    term!(
        "bishop_pair",
        glance,
        good,
        bishop_pair,
        "their bishop pair broken (1)",
        "breaks their bishop pair"
    ),
];

fn centralisation(g: &Glance) -> i32 {
    match g.role {
        Role::Knight | Role::Bishop | Role::Queen => centrality(g.to) - centrality(g.from),
        Role::Pawn | Role::Rook | Role::King => 0,
    }
}

fn knight_centre(g: &Glance) -> i32 {
    if g.role == Role::Knight { centrality(g.to) - centrality(g.from) } else { 0 }
}

fn mobility(g: &Glance) -> i32 {
    g.facts.us.mobility - g.before.facts.us.mobility
}

fn their_mobility(g: &Glance) -> i32 {
    g.facts.them.mobility - g.before.facts.them.mobility
}

fn outpost(g: &Glance) -> i32 {
    let us = g.before.us();
    let minor = matches!(g.role, Role::Knight | Role::Bishop);
    let held = g.facts.us.attacks_by(Role::Pawn).contains(g.to);
    let enemy_pawns = g.after.board().pawns() & g.facts.them.pieces;
    let chasers = enemy_pawns & neighbours(g.to.file()) & ahead(g.to, us);
    let far = (3..6).contains(&relative_rank(g.to, us));
    i32::from(minor && held && far && chasers.is_empty())
}

/// 2 for a file without pawns, 1 without our own, 0 otherwise.
fn openness(g: &Glance, square: Square) -> i32 {
    let pawns = g.after.board().pawns() & Bitboard::from_file(square.file());
    if pawns.is_empty() { 2 } else { i32::from(pawns.is_disjoint(g.facts.us.pieces)) }
}

fn open_file(g: &Glance) -> i32 {
    let enters = matches!(g.role, Role::Rook | Role::Queen) && g.from.file() != g.to.file();
    if enters { (openness(g, g.to) - openness(g, g.from)).max(0) } else { 0 }
}

fn seventh_rank(g: &Glance) -> i32 {
    let us = g.before.us();
    let heavy = matches!(g.role, Role::Rook | Role::Queen);
    i32::from(heavy && relative_rank(g.to, us) == 6 && relative_rank(g.from, us) != 6)
}

fn bishop_pair(g: &Glance) -> i32 {
    let theirs = g.before.position.board().bishops() & g.before.facts.them.pieces;
    i32::from(g.mv.capture() == Some(Role::Bishop) && theirs.count() == 2)
}
