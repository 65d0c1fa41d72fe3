//! The committed data is what its README says.
use std::collections::BTreeSet;
use std::fs;

use kibitzer_core::net::{Model, preset, scratch_bytes};
use kibitzer_core::shakmaty::fen::Fen;
use kibitzer_core::shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Position};
use kibitzer_tests::{fixture, root};

fn positions() -> Vec<Chess> {
    let text = fs::read_to_string(fixture("positions.fen")).expect("committed");
    let parse = |line: &str| {
        let fen: Fen = line.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
        fen.into_position(CastlingMode::Standard).unwrap_or_else(|error| panic!("{line}: {error}"))
    };
    text.lines().map(parse).collect()
}

#[test]
fn the_compared_positions_are_many_and_varied() {
    let positions = positions();
    let count = |kind: fn(&Chess) -> bool| positions.iter().filter(|p| kind(p)).count();
    let distinct: BTreeSet<String> =
        positions.iter().map(|p| Fen::from_position(p, EnPassantMode::Legal).to_string()).collect();
    assert!(distinct.len() >= 200, "{} distinct positions", distinct.len());
    for (kind, found) in [
        ("White to move", count(|p| p.turn() == Color::White)),
        ("Black to move", count(|p| p.turn() == Color::Black)),
        ("openings", count(|p| p.board().occupied().count() >= 28)),
        ("endgames", count(|p| p.board().occupied().count() <= 10)),
        ("checks", count(|p| p.is_check())),
        ("castling", count(|p| p.legal_moves().iter().any(|m| m.is_castle()))),
        ("promotions", count(|p| p.legal_moves().iter().any(|m| m.is_promotion()))),
        ("en passant", count(|p| p.legal_moves().iter().any(|m| m.is_en_passant()))),
    ] {
        assert!(found >= 8, "{kind}: {found}");
    }
}

#[test]
fn every_file_has_its_origin_in_the_readme() {
    let readme = fs::read_to_string(fixture("README.md")).expect("committed");
    let names = |folder: &str| -> Vec<String> {
        let entries = fs::read_dir(root().join("fixtures").join(folder)).expect("committed");
        let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("UTF-8");
        entries.map(|entry| format!("{folder}{}", name(entry.expect("readable")))).collect()
    };
    let below = |name: String| match root().join("fixtures").join(&name).is_dir() {
        true => names(&format!("{name}/")),
        false => vec![name],
    };
    for name in names("").into_iter().flat_map(below) {
        assert!(name == "README.md" || readme.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn the_boards_network_fits_its_class() {
    let bytes = fs::read(fixture("demo.kbz")).expect("committed");
    assert!(bytes.len() <= 512 * 1024, "{} bytes", bytes.len());
    let net = Model::parse(&bytes).expect("a network");
    // What the firmware sets aside; the rest of 96 KiB is for its stack.
    assert!(scratch_bytes(net.config()) <= 32 * 1024);
}

#[test]
fn the_trained_m4_network_fits_the_board_of_its_preset() {
    let bytes = fs::read(fixture("m4.kbz")).expect("committed");
    let preset = preset("m4").expect("a preset");
    let board = preset.board.expect("made for a board");
    assert!(bytes.len() <= board.model_bytes, "{} bytes", bytes.len());
    assert_eq!(*Model::parse(&bytes).expect("a network").config(), preset.config());
}
