//! `x_q` of every legal move of 200 positions against the plain definition in Python.
use std::collections::BTreeMap;

use kibitzer_core::{
    exchange::x_q,
    position::parse_fen,
    shakmaty::{CastlingMode, Position as _},
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    fen: String,
    x_q: BTreeMap<String, i32>,
}

#[test]
fn x_q_equals_the_reference() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/exchange.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
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
