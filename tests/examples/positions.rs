//! Prints `fixtures/positions.fen`: varied positions for comparing the board with the host.
//!
//! `cargo run -p kibitzer-tests --example positions > fixtures/positions.fen`
use std::collections::BTreeSet;
use std::fs::{self, File};

use anyhow::{Context, Result};
use kibitzer_core::shakmaty::fen::Fen;
use kibitzer_core::shakmaty::{CastlingMode, Chess, Position};
use kibitzer_tests::fixture;

/// One of so many labelled positions and puzzles is taken.
const LIBRARY_STRIDE: usize = 17;
const PUZZLE_STRIDE: usize = 60;
/// So many are added of each rare kind, beyond those that the strides meet.
const OF_EACH_KIND: usize = 12;

/// What the first two sources have little or nothing of: the start, both sides' en passant (one
/// of them pinned), promotions with and without capture and with check, castling both ways and
/// through attack, double check, the fewest men, the most moves, nearly blocked boards.
const BY_HAND: &[&str] = &[
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
    "rnbqkbnr/pppp1ppp/8/8/3Pp3/4P3/PPP2PPP/RNBQKBNR b KQkq d3 0 3",
    "8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 1",
    "8/8/8/8/k2Pp2Q/8/8/4K3 b - d3 0 1",
    "3r1k2/2P5/8/8/8/8/8/4K3 w - - 0 1",
    "8/P6k/8/8/8/8/6p1/4K3 w - - 0 1",
    "8/P6k/8/8/8/8/6p1/4K3 b - - 0 1",
    "rn2k3/P7/8/8/8/8/1p2K3/R1N5 b q - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
    "r3k2r/8/5r2/8/8/3R4/8/R3K2R w KQkq - 0 1",
    "r3k2r/8/5r2/8/8/3R4/8/R3K2R b KQkq - 0 1",
    "4k3/8/3N4/8/8/8/8/K3R3 b - - 0 1",
    "8/8/8/4k3/8/8/8/K6Q b - - 0 1",
    "8/8/4k3/8/8/4K3/4P3/8 w - - 0 1",
    "8/5k2/8/8/8/2NB4/2K5/8 w - - 4 70",
    "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
    "k7/8/p1p1p1p1/P1P1P1P1/8/8/8/K7 w - - 0 1",
    "8/8/p1p1p1p1/P1P1P1P1/8/k7/8/K7 w - - 99 80",
];

fn main() -> Result<()> {
    let library = library()?;
    let puzzles = puzzles()?;
    let mut chosen: Vec<&str> = BY_HAND.to_vec();
    chosen.extend(library.iter().step_by(LIBRARY_STRIDE).map(String::as_str));
    chosen.extend(puzzles.iter().step_by(PUZZLE_STRIDE).map(String::as_str));
    for kind in [is_check, can_castle, can_take_en_passant, can_promote] {
        let all = puzzles.iter().chain(&library).map(String::as_str);
        chosen.extend(all.filter(|fen| position(fen).is_ok_and(|p| kind(&p))).take(OF_EACH_KIND));
    }
    let mut seen = BTreeSet::new();
    chosen.retain(|fen| seen.insert(*fen));
    for fen in chosen {
        position(fen)?;
        println!("{fen}");
    }
    Ok(())
}

fn position(fen: &str) -> Result<Chess> {
    let parsed: Fen = fen.parse().with_context(|| fen.to_owned())?;
    parsed.into_position(CastlingMode::Standard).map_err(|_| anyhow::anyhow!("illegal: {fen}"))
}

fn library() -> Result<Vec<String>> {
    let text = zstd::decode_all(File::open(fixture("library.jsonl.zst"))?)?;
    let lines = String::from_utf8(text)?;
    let fen = |line: &str| -> Result<String> {
        let value: serde_json::Value = serde_json::from_str(line)?;
        Ok(value["fen"].as_str().context("a line without fen")?.to_owned())
    };
    lines.lines().map(fen).collect()
}

fn puzzles() -> Result<Vec<String>> {
    let text = fs::read_to_string(fixture("puzzles.csv"))?;
    let fen = |line: &str| line.split(',').nth(1).map(str::to_owned);
    text.lines().skip(1).map(|line| fen(line).context("a line without fen")).collect()
}

fn is_check(position: &Chess) -> bool {
    position.is_check()
}

fn can_castle(position: &Chess) -> bool {
    position.legal_moves().iter().any(|m| m.is_castle())
}

fn can_take_en_passant(position: &Chess) -> bool {
    position.legal_moves().iter().any(|m| m.is_en_passant())
}

fn can_promote(position: &Chess) -> bool {
    position.legal_moves().iter().any(|m| m.is_promotion())
}
