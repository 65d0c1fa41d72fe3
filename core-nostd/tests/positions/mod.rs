//! The fixture positions.
#![allow(dead_code, reason = "each test file uses its own part")]
use kibitzer_core::{position::parse_fen, shakmaty::Chess};

/// All positions of `fixtures/positions.fen`.
pub fn positions() -> Vec<Chess> {
    read("positions.fen")
}

/// The composed positions of `fixtures/crowded.fen`: many queens, much to take.
pub fn crowded() -> Vec<Chess> {
    read("crowded.fen")
}

fn read(name: &str) -> Vec<Chess> {
    let path = format!("{}/../fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("a fixture");
    text.lines().map(|line| parse_fen(line).expect("a legal position")).collect()
}
