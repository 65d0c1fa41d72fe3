//! Pawn structure.
use shakmaty::Bitboard;

use super::{
    View, features,
    shapes::{beside, count, files, fill, forward},
};

features! {
    doubled: "pawns with another of their side ahead on the file",
    isolated: "pawns without a neighbour on the files beside, on a file without enemy pawns",
    backward: "pawns whose next square an enemy pawn attacks and no own pawn can ever defend, \
               isolated ones aside",
    connected: "pawns defended by a pawn or beside one",
}

fn doubled(v: &View) -> i32 {
    let back = !v.own.color;
    count(v.own.pawns & fill(forward(v.own.pawns, back), back))
}

/// Pawns without one of their side on the files beside.
fn alone(v: &View) -> Bitboard {
    v.own.pawns.without(beside(files(v.own.pawns)))
}

fn isolated(v: &View) -> i32 {
    count(alone(v).without(files(v.foe.pawns)))
}

fn backward(v: &View) -> i32 {
    let next = forward(v.own.pawns, v.own.color);
    let held_back = next & v.foe.pawn_attacks().without(v.own.pawn_span);
    count(forward(held_back, !v.own.color).without(alone(v)))
}

fn connected(v: &View) -> i32 {
    count(v.own.pawns & (v.own.pawn_attacks() | beside(v.own.pawns)))
}
