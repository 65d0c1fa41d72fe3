//! The terms that count what a move changes in the position, after the exchanges.
use std::collections::BTreeSet;

use kibitzer_core::{
    exchange::{balance, exchanges},
    position::parse_fen,
    shakmaty::{Chess, Position as _, uci::UciMove},
    viveka::{
        Before, Glance, TERMS, Values,
        positional::{FEATURES, Survey},
        values,
    },
};

fn positions() -> Vec<Chess> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/positions.fen");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| parse_fen(line).unwrap()).collect()
}

fn term(name: &str) -> usize {
    TERMS.iter().position(|t| t.name == name).unwrap_or_else(|| panic!("no term {name}"))
}

fn values_of(fen: &str, uci: &str) -> Values {
    let position = parse_fen(fen).unwrap();
    let mv = uci.parse::<UciMove>().unwrap().to_move(&position).unwrap();
    values(&Glance::new(&Before::new(&position, None), mv))
}

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
    let values = values_of(fen, "c3d5");
    assert_eq!((values[term("d_knights")], values[term("d_isolated")]), (0, 0));
    assert_eq!(values[term("d_pawn_targets")], 0);
    // Rxd5 exd5 gives a rook for a knight.
    let values = values_of("4k3/8/4p3/3n4/8/8/3R4/4K3 w - - 0 1", "d2d5");
    assert_eq!((values[term("d_rooks")], values[term("d_knights")]), (-1, 1));
}
