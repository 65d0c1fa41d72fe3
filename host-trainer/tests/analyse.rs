//! `kibitzer analyse`: one position or many, as JSON, as text and as the board's lines.
mod common;

use std::{
    io::Write as _,
    path::Path,
    process::{Output, Stdio},
};

use common::{command, fixture, succeed};
use serde_json::Value;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Runs `kibitzer analyse` with `input` on standard input.
fn analyse(arguments: &[&str], input: &str) -> Output {
    let mut arguments = arguments.to_vec();
    arguments.insert(0, "analyse");
    let mut child = command(Path::new("."), &arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn text(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn json_has_the_agreed_keys() {
    let model = fixture("reference_tiny.safetensors");
    let arguments = ["analyse", START, "--json", "--model", model.to_str().unwrap()];
    let report: Value = serde_json::from_str(&succeed(Path::new("."), &arguments)).unwrap();
    let candidates = report["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 8);
    assert_eq!(report["choice"], candidates[0]["move"]);
    for key in ["move", "score", "terms", "drop"] {
        assert!(candidates.iter().all(|candidate| candidate.get(key).is_some()), "{key}");
    }
    assert!(report["entropy"].as_f64().unwrap() >= 0.0);
    assert!(report["critical"].is_boolean());
    let value = report.pointer("/net/value").and_then(Value::as_f64).unwrap();
    assert!((-1.0..=1.0).contains(&value));
    let moves = report.pointer("/net/moves").and_then(Value::as_array).unwrap();
    let probability = |m: &Value| m["probability"].as_f64().unwrap();
    assert_eq!(moves.len(), 20);
    assert!(moves.is_sorted_by(|a, b| probability(a) >= probability(b)));
    assert!((moves.iter().map(probability).sum::<f64>() - 1.0).abs() < 1e-6);
}

#[test]
fn lines_of_standard_input_are_positions() {
    let input = format!("{START}\n4k3/8/8/8/8/8/4P3/4K3 b - - 0 1\n");
    let one = text(analyse(&["--json", START], ""));
    let both = text(analyse(&["--json"], &input));
    assert_eq!(both.lines().count(), 2);
    assert_eq!(both.lines().next(), one.lines().next());
    let broken = analyse(&["--json"], &format!("{START}\nrubbish\n"));
    assert_eq!(broken.status.code(), Some(2));
    let line = String::from_utf8(broken.stderr).unwrap();
    assert!(line.contains(", standard input line 2 \"rubbish\": "), "{line}");
}

#[test]
fn the_board_s_lines_go_on_after_a_broken_one() {
    let input = format!("{START}\nrubbish\n{START}\n");
    let lines = text(analyse(&["--board"], &input));
    let positions: Vec<&str> = lines.lines().filter(|l| l.starts_with("position ")).collect();
    assert_eq!(positions, [format!("position {START}"), format!("position {START}")]);
    assert_eq!(lines.lines().filter(|line| line.starts_with("error ")).count(), 1);
    assert_eq!(lines.lines().filter(|line| line.starts_with("candidate ")).count(), 16);
    let choice = succeed(Path::new("."), &["analyse", START, "--json"]);
    let choice: Value = serde_json::from_str(&choice).unwrap();
    let told = format!("choice {}", choice["choice"].as_str().unwrap());
    assert_eq!(lines.lines().filter(|line| *line == told).count(), 2);
}

#[test]
fn text_shows_the_choice_first() {
    let shown = succeed(Path::new("."), &["analyse", START]);
    let mut lines = shown.lines();
    assert_eq!(lines.next(), Some(&*format!("position  {START}")));
    assert!(lines.next().is_some_and(|line| line.starts_with("choice ")), "{shown}");
}
