//! Threats made and threats allowed, safety of the pieces, and what the opponent may do.
use shakmaty::{Bitboard, Position as _, Role, Square, attacks};

use super::Term;
use crate::{
    exchange::piece_points,
    viveka::{
        facts::{dearest, stop},
        glance::{Glance, pawns},
    },
};

pub(super) const ROWS: &[Term] = &[
    term!(
        "mate",
        worked_out,
        good,
        mate,
        "10 for checkmate: with its weight more than any other score",
        "is checkmate"
    ),
    term!(
        "rescue",
        glance,
        good,
        rescue,
        "value in pawns of the moved piece, if it stood loose and no longer does",
        "saves {ours_before} from {theirs_before}" => rescued
    ),
    term!(
        "leaves_loose",
        glance,
        bad,
        leaves_loose,
        "more of our other pieces standing loose than before",
        "leaves {ours} loose" => left_loose,
        "covers {ours_before}" => covered
    ),
    term!(
        "lands_loose",
        glance,
        bad,
        lands_loose,
        "value in pawns of the moved piece, if it can simply be taken",
        "puts {ours} where {theirs} can take it" => landing
    ),
    term!(
        "pawn_chases",
        glance,
        bad,
        pawn_chases,
        "1 if a piece lands where a pawn attacks it, or will after a push onto a square free of us",
        "lets {theirs} chase the {piece} from {to}" => chasing_pawns
    ),
    term!(
        "new_targets",
        glance,
        good,
        new_targets,
        "more of their pieces standing loose than before",
        "leaves {theirs} loose" => new_loose,
        "lets {theirs_before} off" => let_off
    ),
    term!(
        "target_value",
        glance,
        good,
        target_value,
        "value in pawns of the dearest piece the mover newly attacks and could win",
        "attacks {theirs}" => targets
    ),
    term!(
        "fork",
        glance,
        good,
        fork,
        "1 if the moved piece attacks two or more loose or dearer pieces",
        "forks {theirs}" => forked
    ),
    term!(
        "mate_threat",
        worked_out,
        good,
        mate_threat,
        "1 if we would mate were they to pass",
        "threatens {our_mate}"
    ),
    term!("check", glance, either, check, "1 for a check", "gives check"),
    term!(
        "safe_check",
        glance,
        good,
        safe_check,
        "1 for a check by a piece that cannot simply be taken",
        "gives check safely"
    ),
    term!(
        "allows_mate",
        worked_out,
        bad,
        allows_mate,
        "1 if they have a mate in one",
        "allows {their_mate}"
    ),
    term!(
        "allows_checks",
        worked_out,
        bad,
        allows_checks,
        "their safe checks",
        "allows {n:safe check}"
    ),
    term!(
        "safe_replies",
        worked_out,
        bad,
        safe_replies,
        "their replies that lose nothing by exchanges",
        "leaves them {n:safe move}"
    ),
    term!("replies", worked_out, bad, replies, "their legal replies", "leaves them {n:legal move}"),
    term!(
        "few_replies",
        worked_out,
        good,
        few_replies,
        "1 if at most two of their moves are safe",
        "leaves them hardly a safe move"
    ),
];

fn mate(g: &Glance) -> i32 {
    if g.gives_check() && !g.has_reply() { 10 } else { 0 }
}

fn rescue(g: &Glance) -> i32 {
    let saved = g.before.facts.our_loose.contains(g.from) && !g.lands_loose();
    if saved { pawns(piece_points(g.role)) } else { 0 }
}

/// The moved piece and its attackers, where they stood.
fn rescued(g: &Glance) -> Bitboard {
    let (board, them) = (g.before.position.board(), g.before.facts.them.color);
    board.attacks_to(g.from, them, board.occupied()) | g.from
}

/// Our other pieces that newly stand loose.
fn left_loose(g: &Glance) -> Bitboard {
    (g.facts.our_loose & !g.before.facts.our_loose).without(g.to)
}

/// Our other pieces that no longer stand loose.
fn covered(g: &Glance) -> Bitboard {
    (g.before.facts.our_loose & !g.facts.our_loose).without(g.from)
}

fn leaves_loose(g: &Glance) -> i32 {
    let before = g.before.facts.our_loose.without(g.from).count();
    g.facts.our_loose.without(g.to).count() as i32 - before as i32
}

fn lands_loose(g: &Glance) -> i32 {
    if g.lands_loose() { pawns(piece_points(g.landed_role())) } else { 0 }
}

/// The moved piece where it landed, and their pieces that attack it there.
fn landing(g: &Glance) -> Bitboard {
    let board = g.after.board();
    board.attacks_to(g.to, g.facts.them.color, board.occupied()) | g.to
}

fn pawn_chases(g: &Glance) -> i32 {
    let them = &g.facts.them;
    let reach = them.attacks_by(Role::Pawn) | pawn_push_attacks(g);
    i32::from(!matches!(g.role, Role::Pawn | Role::King) && reach.contains(g.to))
}

/// Squares their pawns would attack after one push onto an empty square.
fn pawn_push_attacks(g: &Glance) -> Bitboard {
    let board = g.after.board();
    let them = g.facts.them.color;
    (board.pawns() & g.facts.them.pieces)
        .into_iter()
        .filter_map(|square| stop(square, them))
        .filter(|&next| !board.occupied().contains(next) && !g.facts.us.attacks.contains(next))
        .fold(Bitboard::EMPTY, |all, next| all | attacks::pawn_attacks(them, next))
}

/// The pawns themselves.
fn chasing_pawns(g: &Glance) -> Bitboard {
    let (board, them) = (g.after.board(), g.facts.them.color);
    let reach = |post: Square| attacks::pawn_attacks(them, post).contains(g.to);
    let held = board.occupied() | g.facts.us.attacks;
    let pushed = |pawn: Square| stop(pawn, them).filter(|&next| !held.contains(next));
    (board.pawns() & g.facts.them.pieces)
        .into_iter()
        .filter(|&pawn| reach(pawn) || pushed(pawn).is_some_and(reach))
        .collect()
}

/// Their pieces that newly stand loose.
fn new_loose(g: &Glance) -> Bitboard {
    g.facts.their_loose & !g.before.facts.their_loose
}

/// Their pieces that no longer stand loose.
fn let_off(g: &Glance) -> Bitboard {
    (g.before.facts.their_loose & !g.facts.their_loose).without(g.to)
}

fn new_targets(g: &Glance) -> i32 {
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

/// Those that it newly attacks.
pub(super) fn targets(g: &Glance) -> Bitboard {
    victims(g) & !g.before.position.board().attacks_from(g.from)
}

pub(super) fn target_value(g: &Glance) -> i32 {
    pawns(dearest(g.after.board(), targets(g)))
}

/// Those and their king, if it attacks that as well.
fn forked(g: &Glance) -> Bitboard {
    let king = Bitboard::from_square(g.facts.them.king);
    victims(g) | g.after.board().attacks_from(g.to) & king
}

fn fork(g: &Glance) -> i32 {
    i32::from(forked(g).more_than_one())
}

fn mate_threat(g: &Glance) -> i32 {
    i32::from(g.mate_threat())
}

fn check(g: &Glance) -> i32 {
    i32::from(g.gives_check())
}

fn safe_check(g: &Glance) -> i32 {
    i32::from(g.gives_check() && !g.lands_loose())
}

fn allows_mate(g: &Glance) -> i32 {
    i32::from(g.replies().mates > 0)
}

fn allows_checks(g: &Glance) -> i32 {
    g.safe_replies().checks
}

fn safe_replies(g: &Glance) -> i32 {
    g.safe_replies().all
}

fn replies(g: &Glance) -> i32 {
    g.replies().legal
}

fn few_replies(g: &Glance) -> i32 {
    i32::from(g.safe_replies().all <= 2)
}
