//! The exchange search against the plain definition, in Python and in shakmaty's moves.
mod reached;

use std::collections::BTreeMap;

use kibitzer_core::{
    exchange::{balance, exchanges, immediate_gain, reaches, x_q},
    position::parse_fen,
    shakmaty::{CastlingMode, Chess, Move, Position as _},
};
use proptest::prelude::*;
use reached::{fixture, reached};
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    fen: String,
    x_q: BTreeMap<String, i32>,
}

/// `x_q` of every legal move of 200 positions against the plain definition in Python.
#[test]
fn x_q_equals_the_reference() {
    let text = fixture("exchange.jsonl");
    assert_eq!(text.lines().count(), 200);
    for line in text.lines() {
        let row: Row = serde_json::from_str(line).unwrap();
        let position = parse_fen(&row.fen).unwrap();
        let ours: BTreeMap<String, i32> = position
            .legal_moves()
            .into_iter()
            .map(|mv| (mv.to_uci(CastlingMode::Standard).to_string(), x_q(&position, mv)))
            .collect();
        assert_eq!(ours, row.x_q, "{}", row.fen);
    }
}

/// The definition: every legal capture is tried, and either side may stop.
fn plain(position: &Chess, mut alpha: i32, beta: i32) -> i32 {
    let own = balance(position);
    let mut best = own;
    alpha = alpha.max(best);
    let mut captures: Vec<Move> = position.capture_moves().into_iter().collect();
    captures.sort_by_key(|mv| -immediate_gain(*mv));
    for mv in captures {
        if alpha >= beta {
            break;
        }
        let mut next = position.clone();
        next.play_unchecked(mv);
        best = best.max(-plain(&next, -beta, -alpha));
        alpha = alpha.max(best);
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_search_equals_the_definition(
        start in any::<usize>(),
        choices in prop::collection::vec(any::<u16>(), 0..24),
    ) {
        let position = reached(start, &choices);
        let exact = plain(&position, -1_000_000, 1_000_000);
        prop_assert_eq!(exchanges(&position), exact);
        for points in [-1000, -300, -1, 0, 1, 100, 500].map(|step| exact + step) {
            prop_assert_eq!(reaches(&position, points), exact >= points);
        }
    }
}
