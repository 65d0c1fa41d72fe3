//! Pieces on the board, and what their number does to each other's worth.
use shakmaty::Bitboard;

use super::{View, features, shapes::count};
use crate::viveka::facts::FULL_PHASE;

features! {
    pawns: "pawns",
    knights: "knights",
    bishops: "bishops",
    rooks: "rooks",
    queens: "queens",
    bishop_pair: "1 with bishops on both colours of squares",
    knight_pawns: "knights times (own pawns minus 5): knights are at their best among many pawns",
    traded_lead: "material lead in pawns (1/3/3/5/9), at most 9, times the phase traded off so far \
                  (0 to 24), divided by 4",
}

/// Own pawns with which a knight has its plain worth.
const USUAL_PAWNS: i32 = 5;
/// The most that a lead counts, in pawns.
const MAX_LEAD: i32 = 9;

fn pawns(v: &View) -> i32 {
    count(v.own.pawns)
}

fn knights(v: &View) -> i32 {
    count(v.own.knights)
}

fn bishops(v: &View) -> i32 {
    count(v.own.bishops)
}

fn rooks(v: &View) -> i32 {
    count(v.own.rooks)
}

fn queens(v: &View) -> i32 {
    count(v.own.queens)
}

fn bishop_pair(v: &View) -> i32 {
    let light = v.own.bishops & Bitboard::LIGHT_SQUARES;
    i32::from(light.any() && light != v.own.bishops)
}

fn knight_pawns(v: &View) -> i32 {
    count(v.own.knights) * (count(v.own.pawns) - USUAL_PAWNS)
}

fn traded_lead(v: &View) -> i32 {
    let lead = (v.own.material() - v.foe.material()).clamp(0, MAX_LEAD);
    lead * (FULL_PHASE - v.phase) / 4
}
