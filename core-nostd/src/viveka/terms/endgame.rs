//! Kings and pawns in the endgame.
use shakmaty::{Bitboard, Board, Color, Position as _, Role, Square};

use super::Term;
use crate::viveka::{
    facts::{FULL_PHASE, Side, ahead, passed, rank_of, relative_rank},
    glance::Glance,
};

pub(super) const ROWS: &[Term] = &[
    term!(
        "runner",
        glance,
        good,
        runner,
        "1 if their bare king cannot catch a passed pawn of ours",
        "has a passed pawn that their king cannot catch"
    ),
    term!(
        "allows_runner",
        glance,
        bad,
        allows_runner,
        "1 if our bare king cannot catch a passed pawn of theirs",
        "lets a passed pawn run"
    ),
    term!(
        "opposition",
        glance,
        good,
        opposition,
        "1 if the king takes the opposition in a pawn endgame",
        "takes the opposition"
    ),
    term!(
        "king_to_passer",
        glance,
        good,
        king_to_passer,
        "steps by which the king comes nearer to the nearest passed pawn, in the endgame",
        "brings the king {n:step} nearer to a passed pawn",
        "takes the king {n:step} away from the passed pawns"
    ),
];

/// Whether a passed pawn of `color` reaches its last rank before `enemy`, who has only king and
/// pawns, can catch it. `lead` is 1 if the enemy is to move, else 0.
fn runs(board: &Board, color: Color, enemy: &Side, lead: i32) -> bool {
    if !enemy.pieces.is_subset(board.pawns() | board.kings()) {
        return false;
    }
    let escapes = |square: Square| {
        let path = ahead(square, color) & Bitboard::from_file(square.file());
        let Some(queens) = (path & rank_of(7, color)).first() else { return false };
        // From its first square a pawn may step twice.
        let moves = 7 - relative_rank(square, color).max(2);
        let king = enemy.king.distance(queens) as i32;
        path.is_disjoint(board.occupied()) && king > moves + lead
    };
    passed(board, color).into_iter().any(escapes)
}

fn runner(g: &Glance) -> i32 {
    i32::from(runs(g.after.board(), g.before.us(), &g.facts.them, 1))
}

fn allows_runner(g: &Glance) -> i32 {
    i32::from(runs(g.after.board(), !g.before.us(), &g.facts.us, 0))
}

fn opposition(g: &Glance) -> i32 {
    let board = g.after.board();
    let pawn_endgame = board.occupied().is_subset(board.pawns() | board.kings());
    let (us, them) = (g.facts.us.king, g.facts.them.king);
    let facing = us.distance(them) == 2 && (us.file() == them.file() || us.rank() == them.rank());
    i32::from(g.role == Role::King && pawn_endgame && facing)
}

fn king_to_passer(g: &Glance) -> i32 {
    let endgame = g.before.phase * 3 <= FULL_PHASE;
    if g.role != Role::King || g.mv.is_castle() || !endgame {
        return 0;
    }
    let board = g.before.position.board();
    let all = passed(board, Color::White) | passed(board, Color::Black);
    let nearest = |king: Square| all.into_iter().map(|pawn| king.distance(pawn) as i32).min();
    nearest(g.from).zip(nearest(g.to)).map_or(0, |(before, after)| before - after)
}
