//! The legal moves, against those of the rules board.
mod random;

use std::fs;

use kibitzer_core::{
    legal,
    position::parse_fen,
    shakmaty::{Chess, Move, Position as _},
};
use random::Random;

/// Both lists in the order of the other's.
fn agree(position: &Chess) -> Vec<Move> {
    let moves = legal::moves(position);
    assert_eq!(moves.as_slice(), position.legal_moves().as_slice(), "{position:?}");
    let captures = position.capture_moves();
    assert_eq!(legal::captures(position).as_slice(), captures.as_slice(), "{position:?}");
    assert_eq!(legal::is_checkmate(position), position.is_checkmate());
    moves.to_vec()
}

#[test]
fn the_fixtures_positions_and_all_that_follow_have_the_same_moves() {
    let mut asked = 0;
    for file in ["positions.fen", "crowded.fen", "explained.fen"] {
        let path = format!("{}/../fixtures/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(path).expect("committed");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let fen = line.split(" last ").next().expect("a field");
            let position = parse_fen(fen).expect("legal");
            for mv in agree(&position) {
                let mut next = position.clone();
                next.play_unchecked(mv);
                agree(&next);
                asked += 1;
            }
        }
    }
    assert!(asked > 8_000, "{asked}");
}

#[test]
fn random_games_have_the_same_moves() {
    let mut random = Random(5);
    for start in [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        // En passant in check, pinned, and from both sides.
        "8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1",
        "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1",
        "4k3/8/8/1PpP4/8/8/8/4K3 w - c6 0 2",
    ] {
        for _ in 0..40 {
            let mut position = parse_fen(start).expect("legal");
            for _ in 0..120 {
                let moves = agree(&position);
                let Some(&mv) = moves.get(random.next() as usize % moves.len().max(1)) else {
                    break;
                };
                position.play_unchecked(mv);
            }
        }
    }
}
