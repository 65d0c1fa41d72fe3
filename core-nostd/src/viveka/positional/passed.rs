//! Passed pawns.
use shakmaty::{Bitboard, Rank, Square};

use super::{
    View, features,
    shapes::{beside, count, distance, fill, forward, ranks},
};
use crate::viveka::facts::relative_rank;

features! {
    passed_low: "passed pawns on the second to fourth rank",
    passed_fifth: "passed pawns on the fifth rank",
    passed_sixth: "passed pawns on the sixth rank",
    passed_seventh: "passed pawns on the seventh rank",
    passed_connected: "passed pawns defended by a pawn or beside one",
    passed_free: "ranks gained (1 to 5 each) by passed pawns whose way to promotion holds no enemy \
                  piece and no square that only the enemy attacks",
    passed_kings: "how many king moves the own king is nearer than the enemy's to the squares in \
                   front of the own passed pawns, summed",
    passed_unstoppable: "1 in a pawn ending with a passed pawn that the enemy king cannot \
                         catch",
}

fn passed_low(v: &View) -> i32 {
    count(v.own.passed & ranks(1, 3, v.own.color))
}

fn passed_fifth(v: &View) -> i32 {
    count(v.own.passed & ranks(4, 4, v.own.color))
}

fn passed_sixth(v: &View) -> i32 {
    count(v.own.passed & ranks(5, 5, v.own.color))
}

fn passed_seventh(v: &View) -> i32 {
    count(v.own.passed & ranks(6, 6, v.own.color))
}

fn passed_connected(v: &View) -> i32 {
    count(v.own.passed & (v.own.pawn_attacks() | beside(v.own.pawns)))
}

/// The squares ahead of a pawn on its file.
fn way(v: &View, pawn: Square) -> Bitboard {
    fill(forward(Bitboard::from_square(pawn), v.own.color), v.own.color)
}

fn passed_free(v: &View) -> i32 {
    let barred = v.foe.pieces | v.foe.attacks.without(v.own.attacks);
    let free = v.own.passed.into_iter().filter(|&pawn| way(v, pawn).is_disjoint(barred));
    free.map(|pawn| relative_rank(pawn, v.own.color) - 1).sum()
}

fn passed_kings(v: &View) -> i32 {
    let nearer = |square| distance(square, v.foe.king) - distance(square, v.own.king);
    forward(v.own.passed, v.own.color).into_iter().map(nearer).sum()
}

/// The rule of the square.
fn passed_unstoppable(v: &View) -> i32 {
    if (v.own.officers() | v.foe.officers()).any() {
        return 0;
    }
    let late = i32::from(v.turn != v.own.color);
    let last = v.own.color.fold_wb(Rank::Eighth, Rank::First);
    let runs = |pawn: Square| {
        let goal = Square::from_coords(pawn.file(), last);
        // A pawn on its first square may take two steps at once.
        let steps = (7 - relative_rank(pawn, v.own.color)).min(5);
        steps + late < distance(v.foe.king, goal)
            && way(v, pawn).is_disjoint(v.own.pieces | v.foe.pieces)
    };
    i32::from(v.own.passed.into_iter().any(runs))
}
