//! What is attacked, and whose turn it is.
use shakmaty::Role;

use super::{View, features, shapes::count};

features! {
    by_less: "enemy pieces attacked by something cheaper: by a pawn, rooks and queens by a minor \
              piece, queens by a rook",
    pawn_targets: "enemy pawns that are attacked and no pawn defends",
    loose: "knights, bishops, rooks and queens that nothing of their side defends",
    tempo: "1 for the side to move",
}

fn by_less(v: &View) -> i32 {
    let minors = v.own.attacks_by(Role::Knight) | v.own.attacks_by(Role::Bishop);
    let heavy = v.foe.rooks | v.foe.queens;
    count(v.foe.officers() & v.own.pawn_attacks())
        + count((heavy & minors).without(v.own.pawn_attacks()))
        + count(
            (v.foe.queens & v.own.attacks_by(Role::Rook)).without(minors | v.own.pawn_attacks()),
        )
}

fn pawn_targets(v: &View) -> i32 {
    count(v.foe.pawns & v.own.attacks.without(v.foe.pawn_attacks()))
}

fn loose(v: &View) -> i32 {
    count(v.own.officers().without(v.own.attacks))
}

fn tempo(v: &View) -> i32 {
    i32::from(v.turn == v.own.color)
}
