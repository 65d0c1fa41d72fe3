//! The fixture positions.
use kibitzer_core::{position::parse_fen, shakmaty::Chess};

/// All positions of `fixtures/positions.fen`.
pub fn positions() -> Vec<Chess> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/positions.fen");
    let text = std::fs::read_to_string(path).expect("a fixture");
    text.lines().map(|line| parse_fen(line).expect("a legal position")).collect()
}
