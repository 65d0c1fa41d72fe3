//! Positions from the fixtures and from random play after them.
use kibitzer_core::{
    position::parse_fen,
    shakmaty::{Chess, Position as _},
};

/// The text of a file in `fixtures/`.
pub fn fixture(name: &str) -> String {
    let path = format!("{}/../fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

/// A position some moves after one of the fixtures, the moves chosen by `choices`.
pub fn reached(start: usize, choices: &[u16]) -> Chess {
    let fens = fixture("positions.fen");
    let fens: Vec<&str> = fens.lines().collect();
    let mut position = parse_fen(fens[start % fens.len()]).unwrap();
    for &choice in choices {
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        position.play_unchecked(moves[usize::from(choice) % moves.len()]);
    }
    position
}
