//! Nets round the kings: flight squares, pieces that attack and guard, answers to a check.
use shakmaty::{Bitboard, Board, Position as _, Role, attacks};

use super::{Term, material::taken};
use crate::viveka::{
    facts::{Side, officers, relative_rank},
    glance::Glance,
};

pub(super) const ROWS: &[Term] = &[
    term!(
        "flight_squares",
        glance,
        bad,
        flight_squares,
        "squares their king could step to, after minus before",
        "gives their king {n:more square}",
        "takes {n:square} from their king"
    ),
    term!(
        "own_flights",
        glance,
        good,
        own_flights,
        "squares our king could step to, after minus before",
        "gives our king {n:more square}",
        "takes {n:square} from our king"
    ),
    term!(
        "king_net",
        glance,
        good,
        king_net,
        "1 if their king no longer has a square to step to",
        "leaves their king no square"
    ),
    term!(
        "check_net",
        glance,
        good,
        check_net,
        "1 for a check that leaves their king no square to step to",
        "gives check and leaves their king no square"
    ),
    term!(
        "luft",
        glance,
        good,
        luft,
        "1 if a pawn move gives our king on the first rank its only square to step to",
        "makes room for our king"
    ),
    term!(
        "king_attackers",
        glance,
        good,
        king_attackers,
        "our pieces that attack squares round their king, after minus before",
        "brings {ours} to bear on their king" => newly_bearing,
        "takes {n:piece} from the attack on their king"
    ),
    term!(
        "own_king_attackers",
        glance,
        bad,
        own_king_attackers,
        "their pieces that attack squares round our king, after minus before",
        "lets {theirs} bear on our king" => their_newly_bearing,
        "keeps {theirs_before} from our king" => kept_away
    ),
    term!(
        "king_guards",
        glance,
        good,
        king_guards,
        "our pieces within two steps of our king, after minus before",
        "brings {n:piece} to guard our king",
        "leaves our king with {n:piece} fewer near it"
    ),
    term!(
        "nears_king",
        glance,
        either,
        nears_king,
        "king's steps by which a knight, bishop, rook or queen comes nearer to their king",
        "brings the {piece} {n:step} nearer to their king",
        "takes the {piece} {n:step} away from their king"
    ),
    term!(
        "blocks_check",
        glance,
        either,
        blocks_check,
        "1 if a piece steps between in answer to a check",
        "blocks the check"
    ),
    term!(
        "takes_checker",
        glance,
        either,
        takes_checker,
        "1 if the piece that gives check is taken",
        "takes {theirs_before}, which gives check" => taken
    ),
];

/// Squares that the king of `side` could step to.
fn flights(board: &Board, side: &Side) -> i32 {
    // Lines go on through the king.
    let occupied = board.occupied().without(side.king);
    let attacked = |square| board.attacks_to(square, !side.color, occupied).any();
    let steps = attacks::king_attacks(side.king) & !side.pieces;
    steps.into_iter().filter(|&square| !attacked(square)).count() as i32
}

fn their_flights_before(g: &Glance) -> i32 {
    flights(g.before.position.board(), &g.before.facts.them)
}

fn flight_squares(g: &Glance) -> i32 {
    flights(g.after.board(), &g.facts.them) - their_flights_before(g)
}

fn own_flights(g: &Glance) -> i32 {
    let before = flights(g.before.position.board(), &g.before.facts.us);
    flights(g.after.board(), &g.facts.us) - before
}

fn king_net(g: &Glance) -> i32 {
    let closed = flights(g.after.board(), &g.facts.them) == 0;
    i32::from(closed && their_flights_before(g) > 0)
}

fn check_net(g: &Glance) -> i32 {
    i32::from(g.gives_check() && flights(g.after.board(), &g.facts.them) == 0)
}

fn luft(g: &Glance) -> i32 {
    let us = &g.facts.us;
    let pawn_on_first = g.role == Role::Pawn && relative_rank(us.king, us.color) == 0;
    let opened = || {
        flights(g.before.position.board(), &g.before.facts.us) == 0
            && flights(g.after.board(), us) > 0
    };
    i32::from(pawn_on_first && opened())
}

/// Pieces of `side` that attack squares round `king`'s king.
fn bearing(board: &Board, side: &Side, king: &Side) -> Bitboard {
    let ring = king.king_ring();
    let bears = |square| !board.attacks_from(square).is_disjoint(ring);
    (officers(board) & side.pieces).into_iter().filter(|&square| bears(square)).collect()
}

/// Our pieces that bear on their king, before the move and after it.
fn our_bearing(g: &Glance) -> (Bitboard, Bitboard) {
    let (before, facts) = (&g.before.facts, &g.facts);
    let then = bearing(g.before.position.board(), &before.us, &before.them);
    (then, bearing(g.after.board(), &facts.us, &facts.them))
}

fn king_attackers(g: &Glance) -> i32 {
    let (before, after) = our_bearing(g);
    after.count() as i32 - before.count() as i32
}

fn newly_bearing(g: &Glance) -> Bitboard {
    let (before, after) = our_bearing(g);
    after & !before
}

/// Their pieces that bear on our king, before the move and after it.
fn their_bearing(g: &Glance) -> (Bitboard, Bitboard) {
    let (before, facts) = (&g.before.facts, &g.facts);
    let then = bearing(g.before.position.board(), &before.them, &before.us);
    (then, bearing(g.after.board(), &facts.them, &facts.us))
}

fn own_king_attackers(g: &Glance) -> i32 {
    let (before, after) = their_bearing(g);
    after.count() as i32 - before.count() as i32
}

fn their_newly_bearing(g: &Glance) -> Bitboard {
    let (before, after) = their_bearing(g);
    after & !before
}

fn kept_away(g: &Glance) -> Bitboard {
    let (before, after) = their_bearing(g);
    before & !after
}

/// Pieces of `side` within two steps of its king.
fn guards(board: &Board, side: &Side) -> i32 {
    let near = |square: &shakmaty::Square| square.distance(side.king) <= 2;
    (officers(board) & side.pieces).into_iter().filter(near).count() as i32
}

fn king_guards(g: &Glance) -> i32 {
    guards(g.after.board(), &g.facts.us) - guards(g.before.position.board(), &g.before.facts.us)
}

fn nears_king(g: &Glance) -> i32 {
    let king = g.facts.them.king;
    match g.role {
        Role::Pawn | Role::King => 0,
        _ => g.from.distance(king) as i32 - g.to.distance(king) as i32,
    }
}

fn blocks_check(g: &Glance) -> i32 {
    let answers = g.before.position.is_check() && g.role != Role::King;
    i32::from(answers && takes_checker(g) == 0)
}

fn takes_checker(g: &Glance) -> i32 {
    let checkers = g.before.position.checkers();
    // Also where the captured pawn stood beside the landing square.
    i32::from(checkers.any() && checkers.is_disjoint(g.facts.them.pieces))
}
