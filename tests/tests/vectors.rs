//! The same bytes from every kind of x86-64's vectors and from plain Rust, on 10,000 positions of games.
use std::collections::BTreeSet;
use std::fs;
use std::thread;

use kibitzer_core::fnv;
use kibitzer_core::net::{Model, ample_scratch_bytes};
use kibitzer_core::shakmaty::fen::Fen;
use kibitzer_core::shakmaty::{Chess, EnPassantMode, Position};
use kibitzer_simulator::games;
use kibitzer_tests::fixture;

const POSITIONS: usize = 10_000;
/// One of so many is taken, so that all games are met.
const STRIDE: usize = 7;
/// Of all positions' digests, by the inner loops in plain Rust without the standard library.
const PLAIN: u64 = 0x2b6f_b050_9c84_85ff;

/// Positions of the self-play games, no two alike.
fn positions() -> Vec<Chess> {
    let games = games::read(&fixture("selfplay.pgn.zst")).expect("committed");
    let played = games.into_iter().flat_map(|game| {
        game.into_iter().scan(Chess::default(), |position, mv| {
            position.play_unchecked(mv);
            Some(position.clone())
        })
    });
    let mut seen = BTreeSet::new();
    let mut is_new = |position: &Chess| {
        seen.insert(Fen::from_position(position, EnPassantMode::Legal).to_string())
    };
    played.step_by(STRIDE).filter(|position| is_new(position)).take(POSITIONS).collect()
}

/// Digests of each position's logits and value.
fn digests(net: &[u8], positions: &[Chess]) -> Vec<u64> {
    let model = Model::parse(net).expect("a network");
    let mut scratch = vec![0; ample_scratch_bytes(model.config())];
    let mut digest =
        |position: &Chess| model.evaluate(position, &mut scratch).expect("scratch enough").digest();
    positions.iter().map(&mut digest).collect()
}

/// The digest of all positions', which are shared out among the cores.
fn digest(net: &[u8], positions: &[Chess]) -> u64 {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let all: Vec<u64> = thread::scope(|scope| {
        let parts = positions.chunks(positions.len().div_ceil(cores));
        let parts: Vec<_> = parts.map(|part| scope.spawn(|| digests(net, part))).collect();
        parts.into_iter().flat_map(|part| part.join().expect("no panic")).collect()
    });
    all.into_iter().fold(fnv::START, fnv::step)
}

// One test, because all of the process uses the vectors that it chooses.
#[test]
fn ten_thousand_positions_are_answered_alike() {
    let positions = positions();
    assert_eq!(positions.len(), POSITIONS);
    let net = fs::read(fixture("demo.kbz")).expect("committed");
    #[cfg(target_arch = "x86_64")]
    for vectors in kibitzer_core::net::infer::Vectors::ALL {
        vectors.limit();
        let found = digest(&net, &positions);
        assert_eq!(found, PLAIN, "{vectors:?}: {found:016x}");
    }
    #[cfg(not(target_arch = "x86_64"))]
    assert_eq!(digest(&net, &positions), PLAIN);
}
