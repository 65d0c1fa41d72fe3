//! Tokens, scalars and move indices against python-chess, by way of `fixtures/golden.json`.
use std::collections::BTreeMap;

use kibitzer_core::{
    inputs::{AUX_DENOMINATOR, Frame, Inputs, Perspective},
    moves::{MOVES, MoveIndex},
    position::parse_fen,
    shakmaty::{CastlingMode, Position as _},
};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    fen: String,
    absolute: View,
    mover: View,
}

#[derive(Deserialize)]
struct View {
    tokens: Vec<u8>,
    aux: Vec<f64>,
    moves: BTreeMap<String, usize>,
}

fn rows() -> Vec<Row> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/golden.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn inputs_and_indices_equal_the_reference() {
    for row in rows() {
        let position = parse_fen(&row.fen).unwrap();
        for (perspective, view) in
            [(Perspective::Absolute, &row.absolute), (Perspective::Mover, &row.mover)]
        {
            let inputs = Inputs::new(&position, perspective);
            assert_eq!(inputs.tokens[..], view.tokens[..], "{}", row.fen);
            for (i, &expected) in view.aux.iter().enumerate() {
                let scalar = f64::from(inputs.aux[i]) / f64::from(AUX_DENOMINATOR[i]);
                assert!((scalar - expected).abs() < 1e-12, "{} scalar {i}", row.fen);
            }
            let frame = Frame::new(perspective, position.turn());
            let moves: BTreeMap<String, usize> = position
                .legal_moves()
                .into_iter()
                .map(|m| {
                    let uci = m.to_uci(CastlingMode::Standard).to_string();
                    (uci, MoveIndex::new(m, frame).to_usize())
                })
                .collect();
            assert_eq!(moves, view.moves, "{}", row.fen);
        }
    }
}

proptest! {
    /// Random games reach positions of every kind; in each the index tells all legal moves
    /// apart, decodes back, and lands where the move lands.
    #[test]
    fn the_index_is_injective_and_decodes_back(
        start in 0..12usize,
        choices in prop::collection::vec(any::<prop::sample::Index>(), 0..120),
        mover: bool,
    ) {
        let perspective = if mover { Perspective::Mover } else { Perspective::Absolute };
        let mut position = parse_fen(&rows()[start].fen).unwrap();
        for choice in choices {
            let frame = Frame::new(perspective, position.turn());
            let moves = position.legal_moves();
            let mut seen = std::collections::BTreeSet::new();
            for &m in &moves {
                let index = MoveIndex::new(m, frame);
                prop_assert!(index.to_usize() < MOVES);
                prop_assert!(seen.insert(index), "{m:?} shares its index");
                prop_assert_eq!(index.decode(&position, frame), Some(m));
                let to = frame.square(kibitzer_core::moves::destination(m));
                prop_assert_eq!(index.to(), Some(to));
                prop_assert_eq!(index.from(), frame.square(m.from().unwrap()));
            }
            if moves.is_empty() {
                break;
            }
            position.play_unchecked(moves[choice.index(moves.len())]);
        }
    }
}
