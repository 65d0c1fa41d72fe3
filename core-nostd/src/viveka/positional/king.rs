//! The king's safety, and its strength in the endgame.
use shakmaty::{Bitboard, Role, attacks};

use super::{
    View, features,
    shapes::{KING_HOMES, beside, count, distance, files, forward, ranks},
};
use crate::viveka::facts::centrality;

features! {
    king_shelter: "own pawns ahead of the king on its file and those beside, 2 one rank ahead, 1 \
                   two ranks ahead; 0 without an enemy queen",
    king_files: "the king's file and those beside it, counted without own pawns",
    king_stuck: "1 with the king on d1, e1, d2 or e2 (d8, e8, d7, e7), unable to castle, and an \
                 enemy queen on the board",
    king_attack: "pieces that attack the enemy king's ring, at least two, times their attack units \
                  there (minor pieces 2 a square, rooks 3, queens 5), divided by 4",
    safe_checks: "squares from which a piece could check and nothing of the enemy attacks",
    tropism: "for each piece 4 minus its distance in king moves from the enemy king, summed",
    king_centre: "how central the king stands, 0 in the corner to 6 in the middle",
}

fn king_shelter(v: &View) -> i32 {
    if v.foe.queens.is_empty() {
        return 0;
    }
    let king = Bitboard::from_square(v.own.king);
    let first = forward(king | beside(king), v.own.color);
    let second = forward(first, v.own.color);
    2 * count(v.own.pawns & first) + count(v.own.pawns & second)
}

fn king_files(v: &View) -> i32 {
    let file = Bitboard::from_file(v.own.king.file());
    let bare = (file | beside(file)).without(files(v.own.pawns));
    count(bare & ranks(0, 0, v.own.color))
}

fn king_stuck(v: &View) -> i32 {
    let home = (KING_HOMES & ranks(0, 1, v.own.color)).contains(v.own.king);
    i32::from(home && !v.own.may_castle && v.foe.queens.any())
}

/// A lone attacker is seldom dangerous; several add up faster than their number.
fn king_attack(v: &View) -> i32 {
    match v.own.ring_attackers {
        0 | 1 => 0,
        attackers => attackers * v.own.ring_units / 4,
    }
}

fn safe_checks(v: &View) -> i32 {
    let safe = !(v.own.pieces | v.foe.attacks);
    let occupied = v.own.pieces | v.foe.pieces;
    let diagonals = attacks::bishop_attacks(v.foe.king, occupied) & safe;
    let lines = attacks::rook_attacks(v.foe.king, occupied) & safe;
    let jumps = attacks::knight_attacks(v.foe.king) & safe;
    count(jumps & v.own.attacks_by(Role::Knight))
        + count(diagonals & v.own.attacks_by(Role::Bishop))
        + count(lines & v.own.attacks_by(Role::Rook))
        + count((diagonals | lines) & v.own.attacks_by(Role::Queen))
}

fn tropism(v: &View) -> i32 {
    v.own.officers().into_iter().map(|square| 4 - distance(square, v.foe.king)).sum()
}

fn king_centre(v: &View) -> i32 {
    centrality(v.own.king)
}
