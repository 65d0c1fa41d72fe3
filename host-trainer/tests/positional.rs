//! The positional fit on the fixture's lines.
mod common;

use std::{fs, path::Path};

use common::{fixture, mistake, names, succeed};
use kibitzer_core::viveka::positional::{FEATURES, FITTED};
use kibitzer_trainer::{
    fit::{
        openings,
        texel::{self, quiet, variance},
    },
    library::{self, LabelledPosition},
};
use serde_json::{Value, json};

/// Every `step`-th position of the fixture.
fn positions(step: usize) -> Vec<LabelledPosition> {
    library::read(Path::new(&fixture("library.jsonl.zst")))
        .unwrap()
        .into_iter()
        .step_by(step)
        .collect()
}

#[test]
fn the_features_explain_more_than_material_on_openings_held_out() {
    let positions = positions(6);
    let split = openings::split(&openings::names(positions.iter()), 14, 1).unwrap();
    let fit = texel::fit(&positions, &split).unwrap();
    for parts in [&fit.cross_validated, &fit.held_out] {
        let names: Vec<&str> = parts.iter().map(|e| e.part.as_str()).collect();
        assert_eq!(names, ["all", "opening", "middlegame", "endgame"]);
        let counts: Vec<usize> = parts.iter().map(|e| e.positions).collect();
        assert_eq!(counts[0], counts[1] + counts[2] + counts[3]);
        // A sixth of the library; all of it gives more.
        assert!(parts[0].features > parts[0].material_scaled + 0.05, "{:?}", parts[0]);
        assert!(parts[0].features > 0.6 && parts[0].se > 0.0, "{:?}", parts[0]);
    }
    let quiet = quiet::collect(&positions);
    assert_eq!(quiet.len(), fit.positions + fit.held_out[0].positions, "each is on one side");
    let again = texel::fit(&positions, &split).unwrap();
    assert_eq!(again.weights, fit.weights, "a fit is repeatable");
}

/// A table left behind by a change of the features would not. What the weights explain where they
/// were not fitted is another test's matter: these were fitted on these very positions.
#[test]
fn the_built_in_weights_fit_the_features() {
    let quiet = quiet::collect(&positions(4));
    let all: Vec<_> = quiet.iter().collect();
    let explained = variance::explained(&variance::Rivals::predict(&all, &FITTED, 1.0));
    assert!(explained[0].features > 0.7, "{:?}", explained[0]);
}

#[test]
fn without_a_quiet_position_there_is_no_fit() {
    let mut positions = positions(12);
    let split = openings::split(&openings::names(positions.iter()), 0, 1).unwrap();
    for line in positions.iter_mut().flat_map(|p| &mut p.lines) {
        line.score = library::MATE;
    }
    assert!(texel::fit(&positions, &split).is_none());
}

/// A folder with `lib.jsonl`: some of the fixture's lines, each changed by `change`.
fn folder_with(change: impl Fn(&mut Value)) -> tempfile::TempDir {
    let bytes = fs::read(fixture("library.jsonl.zst")).unwrap();
    let text = String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap();
    let changed = text.lines().step_by(40).map(|line| {
        let mut value = serde_json::from_str(line).unwrap();
        change(&mut value);
        value.to_string()
    });
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("lib.jsonl"), changed.collect::<Vec<_>>().join("\n")).unwrap();
    folder
}

const FIT: [&str; 5] = ["-q", "fit", "lib.jsonl", "--positional-table", "table.rs"];

#[test]
fn the_command_writes_the_positional_weights() {
    let folder = folder_with(|_| ());
    let said = succeed(folder.path(), &FIT);
    assert!(said.contains("variance of winning chances explained"), "{said}");
    let text = fs::read_to_string(folder.path().join("viveka.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let table = fs::read_to_string(folder.path().join("table.rs")).unwrap();
    let rows = file["positional"]["features"].as_array().unwrap();
    assert_eq!(rows.len(), FEATURES.len());
    for (row, feature) in rows.iter().zip(&FEATURES) {
        assert_eq!(row["name"], feature.name);
        let line = format!("({}, {}, {}),", row["name"], row["middlegame"], row["endgame"]);
        assert!(table.contains(&line), "{line}");
    }
    let explained = &file["positional"]["cross_validated"][0];
    assert_eq!(explained["part"], "all");
    assert_eq!(explained["positions"], file["positional"]["positions"]);
}

#[test]
fn lines_that_all_end_in_mate_are_too_few() {
    let folder = folder_with(|line| {
        for (n, top) in (3..).zip(line["top"].as_array_mut().unwrap()) {
            top[1] = json!(format!("m{n}"));
        }
    });
    assert_eq!(
        mistake(folder.path(), &FIT),
        "the lines hold too few quiet positions for positional weights, lib.jsonl: \
         give a library with lines in top, or leave --positional-table out"
    );
    assert_eq!(names(folder.path()), ["lib.jsonl"], "nothing is left behind");
}
