//! What `kibitzer analyse` says of 30 positions, whole, and that its sums are true.
//!
//! After a change of weights, terms or sentences:
//! `cargo run -p kibitzer-trainer -- analyse < fixtures/explained.fen > fixtures/explained.txt`
mod common;

use std::{fs, fs::File, path::Path};

use common::{command, fixture};
use kibitzer_core::{
    position::parse_fen,
    shakmaty::{Chess, Position as _},
};
use serde_json::Value;

/// What `kibitzer analyse` with these arguments prints of the positions.
fn analyse(arguments: &[&str]) -> String {
    let mut command = command(Path::new("."), &["analyse"]);
    let input = File::open(fixture("explained.fen")).unwrap();
    let output = command.args(arguments).stdin(input).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn positions() -> Vec<Chess> {
    let text = fs::read_to_string(fixture("explained.fen")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| parse_fen(line).unwrap()).collect()
}

#[test]
fn the_text_is_the_committed_one() {
    let golden = fs::read_to_string(fixture("explained.txt")).unwrap();
    let text = analyse(&[]);
    let differing = text.lines().zip(golden.lines()).position(|(now, then)| now != then);
    assert!(
        text == golden,
        "line {} differs; if that is meant: cargo run -p kibitzer-trainer -- analyse < \
         fixtures/explained.fen > fixtures/explained.txt",
        1 + differing.unwrap_or(text.lines().count().min(golden.lines().count())),
    );
}

#[test]
fn the_positions_are_of_all_kinds() {
    let positions = positions();
    assert_eq!(positions.len(), 30);
    let some = |kind: &str, is: fn(&Chess) -> bool| {
        assert!(positions.iter().any(is), "no position {kind}");
    };
    some("in check", |p| p.is_check());
    some("with castling", |p| p.legal_moves().iter().any(|mv| mv.is_castle()));
    some("with en passant", |p| p.legal_moves().iter().any(|mv| mv.is_en_passant()));
    some("with a promotion", |p| p.legal_moves().iter().any(|mv| mv.is_promotion()));
    some("with mate in one", |p| after_some_move(p, |next| next.is_checkmate()));
    some("with a stalemate to avoid", |p| after_some_move(p, |next| next.is_stalemate()));
    some("with one move", |p| p.legal_moves().len() == 1);
    some("that is mate", |p| p.is_checkmate());
    some("of the endgame", |p| p.board().occupied().count() <= 6);
    some("with Black to move", |p| p.turn().is_black());
}

fn after_some_move(position: &Chess, is: fn(&Chess) -> bool) -> bool {
    position.legal_moves().into_iter().any(|mv| {
        let mut next = position.clone();
        next.play_unchecked(mv);
        is(&next)
    })
}

/// The numbers at the start of the lines of a paragraph.
fn points(paragraph: &[&str]) -> Vec<i64> {
    let number = |line: &&str| line.split_whitespace().next().and_then(|word| word.parse().ok());
    paragraph.iter().map_while(number).collect()
}

/// In the text, the reasons for the choice add up to its total, and those against the runner-up
/// to what it has less.
#[test]
fn sums_of_the_text_are_true() {
    let (text, json) = (analyse(&[]), analyse(&["--json"]));
    let blocks: Vec<&str> = text.split("position  ").skip(1).collect();
    assert_eq!(blocks.len(), json.lines().count());
    for (block, report) in blocks.into_iter().zip(json.lines()) {
        let report: Value = serde_json::from_str(report).unwrap();
        let total = |n: usize| report["candidates"][n]["total"].as_i64();
        let lines: Vec<&str> = block.lines().collect();
        let start = |with: &str| lines.iter().position(|line| line.starts_with(with));
        let (Some(best), Some(why)) = (total(0), start("Why ").filter(|_| total(0).is_some()))
        else {
            assert!(block.contains("no legal move"), "{block}");
            continue;
        };
        assert_eq!(points(&lines[why + 1..]).iter().sum::<i64>(), best, "{block}");
        let Some(second) = total(1) else { continue };
        let why_not = start("Why not ").unwrap();
        assert_eq!(points(&lines[why_not + 1..]).iter().sum::<i64>(), second - best, "{block}");
    }
}

#[test]
fn the_data_hold_every_sentence() {
    for report in analyse(&["--json"]).lines() {
        let report: Value = serde_json::from_str(report).unwrap();
        for candidate in report["candidates"].as_array().unwrap() {
            let terms = candidate["terms"].as_object().unwrap();
            assert_eq!(terms.len(), candidate["why"].as_array().unwrap().len());
            let sum: i64 = terms.values().filter_map(Value::as_i64).sum();
            assert_eq!(Some(sum), candidate["score"].as_i64(), "{candidate}");
            let costs = candidate["drop"].as_f64().unwrap() > 0.0;
            for key in ["reply", "reply_san", "check"] {
                assert_eq!(costs, candidate.get(key).is_some(), "{key} of {candidate}");
            }
            assert!(candidate["scan"].is_i64() && candidate["san"].is_string());
        }
    }
}
