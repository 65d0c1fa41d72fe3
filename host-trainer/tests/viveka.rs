//! Fitting and judging Viveka by the command line, and what broken libraries get.
mod common;

use std::{fs, path::Path};

use common::{fixture, kibitzer, mistake, names, succeed};
use kibitzer_core::{
    position::parse_fen,
    shakmaty::Position as _,
    viveka::{FITTED, V1, analyse},
};
use kibitzer_trainer::{
    fit::{features, weights},
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
    assert!(said.starts_with("the labelled move a1a1 is illegal, lib.jsonl line 2: "), "{said}");
    let said = judge_changed(|line| {
        let first = line["all"][0].clone();
        line["all"].as_array_mut().unwrap().push(first);
    });
    assert!(said.contains(" has two labels, lib.jsonl line 2: label the position"), "{said}");
}

#[test]
fn a_finished_game_is_named() {
    let mate = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3";
    let stalemate = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1";
    for fen in [mate, stalemate] {
        let said = judge_changed(|line| {
            *line = serde_json::json!({
                "opening": "x", "game": 0, "ply": 4, "fen": fen, "last": null, "all": [], "top": []
            });
        });
        assert_eq!(
            said,
            "the game is over in this position, lib.jsonl line 2: label positions with a legal \
             move, or delete the line"
        );
    }
}

#[test]
fn a_position_that_comes_again_counts_once() {
    let mut lines = lines();
    lines.truncate(3);
    let mut again: Value = serde_json::from_str(&lines[1]).unwrap();
    again["opening"] = "another way".into();
    again["ply"] = 60.into();
    lines.extend([again.to_string(), lines[0].clone()]);
    let folder = folder_with(&lines);
    let output = kibitzer(folder.path(), &["-q", "judge", "lib.jsonl", "--json"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("lib.jsonl: 2 positions come again; each counts once"), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["positions"], 3);
    assert!(!report["openings"].as_array().unwrap().contains(&"another way".into()));
}

/// Of one opening there is nothing to hold out, but its positions can be judged.
#[test]
fn one_opening_can_be_judged_and_not_fitted() {
    let mut lines = lines();
    let opening = |line: &str| serde_json::from_str::<Value>(line).unwrap()["opening"].clone();
    let first = opening(&lines[0]);
    lines.retain(|line| opening(line) == first);
    let folder = folder_with(&lines);
    assert_eq!(
        mistake(folder.path(), &["-q", "fit", "lib.jsonl"]),
        "1 opening is too few, the library: give positions of at least 5, for cross-validation \
         by opening"
    );
    assert_eq!(judged_json(folder.path(), &[])["positions"], lines.len());
    assert_eq!(names(folder.path()), ["lib.jsonl"]);
}

/// Every move of `line` scored as `score` says.
fn scored(line: &str, score: &str) -> String {
    let mut line: Value = serde_json::from_str(line).unwrap();
    for list in ["all", "top"] {
        for entry in line[list].as_array_mut().unwrap() {
            entry[1] = score.into();
        }
    }
    line.to_string()
}

#[test]
fn where_every_move_mates_there_is_nothing_to_fit_and_little_to_lose() {
    let lines: Vec<String> = lines().iter().step_by(5).map(|line| scored(line, "m3")).collect();
    let folder = folder_with(&lines);
    assert_eq!(
        mistake(folder.path(), &["-q", "fit", "lib.jsonl"]),
        "the fit gives material no weight, the library: fit on more positions, or check the \
         scores' sign"
    );
    assert_eq!(names(folder.path()), ["lib.jsonl"]);
    let report = judged_json(folder.path(), &[]);
    // The moves that are not among the top three count one centipawn less.
    for choice in report["choices"].as_array().unwrap() {
        assert!(choice["mean_loss"].as_f64().unwrap() <= 1.0, "{choice}");
    }
    assert_eq!(report["entropy"]["auc"], Value::Null);
    let text = succeed(folder.path(), &["-q", "judge", "lib.jsonl"]);
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
}

/// Where only one opening teaches anything, nothing can be fitted without it: the fit stands, and
/// what it does on openings left out is not told.
#[test]
fn a_fold_that_cannot_be_fitted_costs_its_figures_alone() {
    let opening = |line: &str| serde_json::from_str::<Value>(line).unwrap()["opening"].clone();
    let bytes = fs::read(fixture("library.jsonl.zst")).unwrap();
    let text = String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap();
    let first = opening(&lines()[0]);
    let taught = text.lines().filter(|line| opening(line) == first).map(String::from);
    let flat = lines().into_iter().filter(|line| opening(line) != first).step_by(8);
    let lines: Vec<String> = taught.chain(flat.map(|line| scored(&line, "m3"))).collect();
    let folder = folder_with(&lines);
    let said = succeed(folder.path(), &["-q", "fit", "lib.jsonl"]);
    let why = "not cross-validated, since in a fold the fit gives material no weight";
    assert!(said.contains(why), "{said}");
    assert!(said.contains("beta "), "the weights are told: {said}");
    assert_eq!(names(folder.path()), ["lib.jsonl", "viveka.json"]);
}

#[test]
fn a_position_in_check_is_judged_by_its_few_moves() {
    let in_check = |line: &String| {
        let line: Value = serde_json::from_str(line).unwrap();
        parse_fen(line["fen"].as_str().unwrap()).unwrap().is_check()
    };
    let lines: Vec<String> = lines().into_iter().filter(in_check).collect();
    assert!(lines.len() > 3, "the fixture has such positions");
    let report = judged_json(folder_with(&lines).path(), &[]);
    assert_eq!(report["positions"], lines.len());
    assert_eq!(report["scan"]["recall_best"]["12"], 1.0);
    let random = report["random"]["mean_loss"].as_f64().unwrap();
    assert!(report["choices"][4]["mean_loss"].as_f64().unwrap() < random);
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

#[test]
fn the_core_has_the_weights_of_the_committed_file() {
    let (file, weights) = weights::load(&fixture("viveka.json")).unwrap();
    assert_eq!(weights, FITTED);
    assert_eq!(file.v1(), V1);
}

#[test]
fn weights_of_another_form_are_refused() {
    let folder = folder_with(&lines());
    let text = fs::read_to_string(fixture("viveka.json")).unwrap();
    let whole: Value = serde_json::from_str(&text).unwrap();
    let refused = |mend: &str, change: &dyn Fn(&mut Value)| {
        let mut file = whole.clone();
        change(&mut file);
        fs::write(folder.path().join("w.json"), file.to_string()).unwrap();
        let said = mistake(folder.path(), &["-q", "judge", "lib.jsonl", "--weights", "w.json"]);
        assert!(said.ends_with(&format!(", w.json: {mend}")), "{said}");
        said
    };
    let again = "fit the weights again with this program";
    let given = "give a viveka.json written by kibitzer fit";
    let said = refused(again, &|file| file["terms"][3]["endgame"] = 1_001.into());
    assert!(said.starts_with("takes is out of range"), "{said}");
    let said = refused(again, &|file| file["terms"][3]["middlegame"] = (-1_001).into());
    assert!(said.starts_with("takes is out of range"), "{said}");
    let said = refused(again, &|file| file["temperature"]["endgame"] = 0.into());
    assert!(said.starts_with("temperature is out of range"), "{said}");
    let said = refused(given, &|file| file["temperature"] = 50.into());
    assert!(said.contains("expected struct Temperature"), "{said}");
    // As before a weight could differ in the endgame.
    let said = refused(given, &|file| {
        let row = file["terms"][3].as_object_mut().unwrap();
        row.remove("endgame");
        row.insert("score".into(), 5.into());
    });
    assert!(said.contains("missing field `endgame`"), "{said}");
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
    let named = report["choices"].as_array().unwrap().iter().map(|choice| &choice["name"]);
    let named: Vec<&str> = named.map(|name| name.as_str().unwrap()).collect();
    assert_eq!(named, ["material", "v1", "score", "score@8", "score@8+check"]);
    let v1 = file["v1"].as_array().unwrap();
    assert_eq!(
        (v1.len(), &v1[0]["name"], &v1[0]["score"]),
        (6, &"exchange_one".into(), &100.into())
    );
    for choice in report["choices"].as_array().unwrap() {
        let loss = choice["mean_loss"].as_f64().unwrap();
        assert!(loss < random / 2.0, "{choice}");
        assert!(choice["se"].as_f64().unwrap() > 0.0);
    }
    assert!(report["scan"]["recall_best"]["8"].as_f64().unwrap() > 0.6);
    assert!(report["scan"]["recall_top3"]["8"].as_f64().unwrap() > 0.8);
    for (found, random) in [("recall_best", "random_best"), ("recall_top3", "random_top3")] {
        for k in ["4", "6", "8", "12"] {
            let [found, random] = [found, random].map(|n| report["scan"][n][k].as_f64().unwrap());
            assert!(random < found && found <= 1.0, "{k}: {found}, at random {random}");
        }
    }
    assert!(report["entropy"]["auc"].as_f64().unwrap() > 0.5);
    assert!(report["entropy"]["margin_auc"].as_f64().unwrap() > 0.5);
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
        assert_eq!(judged.entropy(&FITTED), analysis.entropy);
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
