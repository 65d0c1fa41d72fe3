//! The terms that count what a move changes in the position, after the exchanges.
mod positions;
mod term_values;

use std::collections::BTreeSet;

use kibitzer_core::{
    exchange::{balance, exchanges},
    shakmaty::Position as _,
    viveka::{
        Before, Glance,
        positional::{FEATURES, Survey},
        values,
    },
};
use positions::positions;
use term_values::{term, values_of};

/// After quiet moves nothing is exchanged: the change is the feature's after, minus before.
#[test]
fn changes_are_differences_of_positional_features() {
    let (mut compared, mut changed) = (0, BTreeSet::new());
    for position in positions() {
        let (us, before) = (position.turn(), Before::new(&position, None));
        let old = Survey::of(&position, us);
        for mv in position.legal_moves() {
            let mut after = position.clone();
            after.play_unchecked(mv);
            if exchanges(&after) != balance(&after) {
                continue;
            }
            let new = Survey::of(&after, us);
            let values = values(&Glance::new(&before, mv));
            for feature in &FEATURES {
                let change = new.value(feature) - old.value(feature);
                let name = format!("d_{}", feature.name);
                assert_eq!(i32::from(values[term(&name)]), change, "{name} of {mv:?}");
                compared += 1;
                changed.extend((change != 0).then_some(feature.name));
            }
        }
    }
    assert!(compared > 100_000, "{compared}");
    let rest: Vec<&str> =
        FEATURES.iter().map(|f| f.name).filter(|name| !changed.contains(name)).collect();
    assert!(rest.is_empty(), "never change: {rest:?}");
}

/// After exchanges it is the position at their end that counts.
#[test]
fn changes_follow_the_exchanges() {
    // Nxd5 exd5: the pawn that retakes is isolated, and knights are gone from both sides.
    let fen = "4k3/8/4p3/3n4/8/2N5/8/4K3 w - - 0 1";
    let values = values_of(fen, None, "c3d5");
    assert_eq!((values[term("d_knights")], values[term("d_isolated")]), (0, 0));
    assert_eq!(values[term("d_pawn_targets")], 0);
    // Rxd5 exd5 gives a rook for a knight.
    let values = values_of("4k3/8/4p3/3n4/8/8/3R4/4K3 w - - 0 1", None, "d2d5");
    assert_eq!((values[term("d_rooks")], values[term("d_knights")]), (-1, 1));
}
