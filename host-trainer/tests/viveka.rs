//! Fitting and judging Viveka by the command line, and what broken libraries get.
mod common;

use std::{fs, path::Path};

use common::{fixture, mistake, names, succeed};
use kibitzer_core::viveka::{FITTED, analyse};
use kibitzer_trainer::{
    fit::features,
    judge::{self, Judged},
    library,
};
use serde_json::Value;

/// Every twelfth line of the fixture: few positions of many openings.
fn lines() -> Vec<String> {
    let bytes = fs::read(fixture("library.jsonl.zst")).unwrap();
    let text = String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap();
    text.lines().step_by(12).map(String::from).collect()
}

/// A folder with `lib.jsonl` made of `lines`.
fn folder_with(lines: &[String]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("lib.jsonl"), lines.join("\n")).unwrap();
    folder
}

/// The second of two lines, changed by `change`, and what `judge` says of it.
fn judge_changed(change: impl FnOnce(&mut Value)) -> String {
    let mut lines = lines();
    lines.truncate(2);
    let mut value: Value = serde_json::from_str(&lines[1]).unwrap();
    change(&mut value);
    lines[1] = value.to_string();
    mistake(folder_with(&lines).path(), &["-q", "judge", "lib.jsonl"])
}

#[test]
fn a_line_cut_in_half_is_named() {
    let mut lines = lines();
    lines.truncate(3);
    let half = lines[2].len() / 2;
    lines[2].truncate(half);
    let folder = folder_with(&lines);
    for command in ["judge", "fit"] {
        assert_eq!(
            mistake(folder.path(), &["-q", command, "lib.jsonl"]),
            "the line is cut short, lib.jsonl line 3: label the position again, or delete the line"
        );
    }
    assert_eq!(names(folder.path()), ["lib.jsonl"], "no weights are left behind");
}

#[test]
fn a_missing_label_is_named() {
    let said = judge_changed(|line| {
        let top = line["top"][0][0].clone();
        line["all"].as_array_mut().unwrap().retain(|entry| entry[0] != top);
    });
    assert!(said.contains("is missing from the list of all moves, lib.jsonl line 2:"), "{said}");
    let said = judge_changed(|line| {
        let top: Vec<Value> =
            line["top"].as_array().unwrap().iter().map(|entry| entry[0].clone()).collect();
        let all = line["all"].as_array_mut().unwrap();
        let victim = all.iter().position(|entry| !top.contains(&entry[0])).unwrap();
        all.remove(victim);
    });
    assert!(said.contains("has no label, lib.jsonl line 2: label every legal move"), "{said}");
}

#[test]
fn broken_positions_scores_and_moves_are_named() {
    let said = judge_changed(|line| line["fen"] = "8/8/8/8/8/8/8/4K3 w - - 0 1".into());
    assert!(said.starts_with("Black has no king"), "{said}");
    assert!(said.contains("lib.jsonl line 2"), "{said}");
    let said = judge_changed(|line| line["all"][0][1] = "mate".into());
    assert!(said.contains("is neither a number nor a mate, lib.jsonl line 2"), "{said}");
    let said = judge_changed(|line| {
        let all = line["all"].as_array_mut().unwrap();
        all.push(serde_json::json!(["a1a1", 0]));
    });
    assert!(said.contains("labels for"), "{said}");
}

#[test]
fn missing_empty_and_unwritable_files_are_named() {
    let folder = folder_with(&[]);
    assert_eq!(
        mistake(folder.path(), &["-q", "judge", "none.jsonl"]),
        "cannot read the file (no such file or directory), none.jsonl: \
         check the path and its permissions"
    );
    assert_eq!(
        mistake(folder.path(), &["-q", "judge", "lib.jsonl"]),
        "the library is empty, lib.jsonl: give a file with one labelled position a line"
    );
    let said = mistake(folder.path(), &["-q", "fit", "lib.jsonl", "-o", "no/such/folder.json"]);
    assert!(said.contains("no/such"), "{said}");
    fs::write(folder.path().join("w.json"), "{}").unwrap();
    let said = mistake(folder.path(), &["-q", "judge", "lib.jsonl", "--weights", "w.json"]);
    assert!(said.ends_with("w.json: give a viveka.json written by kibitzer fit"), "{said}");
    let said = mistake(folder.path(), &["-q", "judge", "lib.jsonl", "--engine", "./no-engine"]);
    assert!(said.contains("lib.jsonl"), "the library comes first: {said}");
}

fn judged_json(folder: &Path, arguments: &[&str]) -> Value {
    let all = [&["-q", "judge", "lib.jsonl", "--json"], arguments].concat();
    serde_json::from_str(&succeed(folder, &all)).unwrap()
}

#[test]
fn a_fit_is_repeatable_and_judged_on_openings_it_did_not_see() {
    let folder = folder_with(&lines());
    let fit = |output: &str| {
        let arguments = ["-q", "fit", "lib.jsonl", "--hold-out", "12", "-o", output];
        succeed(folder.path(), &arguments)
    };
    assert_eq!(fit("a.json"), fit("b.json"));
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("a.json"), read("b.json"), "same seed, same weights");

    let report = judged_json(folder.path(), &["--weights", "a.json", "--held-out"]);
    let file: Value = serde_json::from_slice(&read("a.json")).unwrap();
    assert_eq!(file["held_out"].as_array().unwrap().len(), 12);
    let held_out = lines()
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["opening"].clone())
        .filter(|opening| file["held_out"].as_array().unwrap().contains(opening))
        .count();
    assert_eq!(report["positions"], held_out);
    let random = report["random"]["mean_loss"].as_f64().unwrap();
    for choice in report["choices"].as_array().unwrap() {
        let loss = choice["mean_loss"].as_f64().unwrap();
        assert!(loss < random / 2.0, "{choice}");
        assert!(choice["se"].as_f64().unwrap() > 0.0);
    }
    assert!(report["scan"]["recall_best"]["8"].as_f64().unwrap() > 0.6);
    assert!(report["scan"]["recall_top3"]["8"].as_f64().unwrap() > 0.8);
    assert!(report["entropy"]["auc"].as_f64().unwrap() > 0.5);
    assert!(report["entropy"]["spearman"].as_f64().unwrap() > 0.2);
}

/// What the judge rates is what the board plays.
#[test]
fn the_judge_and_the_core_choose_alike() {
    let folder = folder_with(&lines());
    let positions = library::read(&folder.path().join("lib.jsonl")).unwrap();
    let features = features::compute(&positions, || ());
    let rows: Vec<_> = positions.iter().zip(&features).collect();
    let judged: Vec<Judged> = judge::examine(&rows, &FITTED);
    for (position, judged) in positions.iter().zip(&judged) {
        let analysis = analyse(&position.position, position.last, &FITTED);
        let chosen = analysis.candidates[0].mv;
        let number = position.moves.iter().position(|m| m.mv == chosen).unwrap();
        assert!(judged.checked(&FITTED).contains(&number), "{:?}", position.position);
        assert_eq!(judged.entropy(FITTED.temperature), analysis.entropy);
        assert_eq!(judged.is_flagged(&FITTED), analysis.critical);
    }
}

#[test]
fn the_last_move_tells_a_recapture() {
    let folder = tempfile::tempdir().unwrap();
    let fen = "r1bqkbnr/pppp1ppp/2N5/4p3/4P3/8/PPPP1PPP/RNBQKB1R b KQkq - 0 3";
    let recapture = |arguments: &[&str]| {
        let all = [&["analyse", fen, "--json"], arguments].concat();
        let report: Value = serde_json::from_str(&succeed(folder.path(), &all)).unwrap();
        let candidates = report["candidates"].as_array().unwrap();
        candidates.iter().filter(|c| c["terms"]["recapture"].as_i64().unwrap_or(0) > 0).count()
    };
    assert_eq!(recapture(&[]), 0);
    assert_eq!(recapture(&["--last", "f3c6"]), 2, "d7c6 and b7c6");
    assert_eq!(
        mistake(folder.path(), &["analyse", fen, "--last", "Nxc6"]),
        "Nxc6 is not a UCI move, --last: write the opponent's last move as in e7e5"
    );
}
