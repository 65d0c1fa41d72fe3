//! The report and the experiments through the binary, on a small part of the fixture.
mod common;

use std::{collections::BTreeMap, fs, path::Path};

use common::{fixture, mistake, names, succeed};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Openings of the small library, and positions of each.
const OPENINGS: usize = 8;
const POSITIONS: usize = 5;

/// A folder with `lib.jsonl`: a few positions of some openings.
fn folder_with_library() -> tempfile::TempDir {
    let bytes = fs::read(fixture("library.jsonl.zst")).unwrap();
    let text = String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap();
    let mut openings: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for line in text.lines() {
        let position: Value = serde_json::from_str(line).unwrap();
        let opening = position["opening"].as_str().unwrap().to_string();
        openings.entry(opening).or_default().push(line);
    }
    let some = openings.values().take(OPENINGS);
    let lines: Vec<&str> =
        some.flat_map(|lines| lines.iter().step_by(11).take(POSITIONS)).copied().collect();
    assert_eq!(lines.len(), OPENINGS * POSITIONS);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("lib.jsonl"), lines.join("\n")).unwrap();
    folder
}

/// Runs the report into `output` and returns its page.
fn report(folder: &Path, output: &str) -> String {
    succeed(folder, &["-q", "report", "lib.jsonl", "--hold-out", "3", "--seed", "7", "-o", output]);
    fs::read_to_string(folder.join(output).join("report.md")).unwrap()
}

#[test]
fn every_section_and_figure_is_there_and_the_seed_decides_all() {
    let folder = folder_with_library();
    let page = report(folder.path(), "a");
    for section in [
        "## 1. Data and split",
        "## 2. Scan",
        "## 3. Weights",
        "### The baseline v1",
        "## 4. Positional values",
        "## 5. Time evolution",
        "### Forward",
        "### Backward",
        "## 6. Information and entropy",
        "## 7. Selection",
        "## 8. Results",
        "## 9. The tail",
        "### Four kinds of error",
        "## 10. Tested and rejected",
        "### The positional evaluation at the leaves",
        "### Two-move look-ahead",
        "### Glances at trapped pieces and king nets",
    ] {
        assert!(page.contains(&format!("\n{section}\n")), "{section} is missing");
    }
    assert_eq!(page.matches("**Verdict: ").count(), 3);
    for choice in ["random", "material", "v1", "score", "score@8", "score@8+check"] {
        assert!(page.contains(&format!("\n| {choice} | ")), "{choice} has no result");
    }

    let library = fs::read(folder.path().join("lib.jsonl")).unwrap();
    assert!(page.contains(&format!("{:x}", Sha256::digest(&library))), "the library's hash");
    assert!(page.contains("| seed | 7 |"), "the seed");
    assert!(page.contains("| held out | 15 positions of 3 openings |"), "the split");
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");

    // Every figure that the page shows is there, and no other.
    let figures = folder.path().join("a/figures");
    let shown: Vec<&str> = page
        .split("](figures/")
        .skip(1)
        .map(|rest| rest.split_once(')').expect("a link's end").0)
        .collect();
    let mut sorted: Vec<String> = shown.iter().map(ToString::to_string).collect();
    sorted.sort();
    assert_eq!(names(&figures), sorted);
    assert_eq!(shown.len(), 7, "{shown:?}");
    for name in &shown {
        let svg = fs::read_to_string(figures.join(name)).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{name}");
    }

    assert_eq!(report(folder.path(), "b"), page, "same seed, same page");
    for name in shown {
        let read = |output: &str| fs::read(folder.path().join(output).join("figures").join(name));
        assert_eq!(read("a").unwrap(), read("b").unwrap(), "same seed, same {name}");
    }
    assert_eq!(names(folder.path()), ["a", "b", "lib.jsonl"], "nothing else is left behind");
    assert_eq!(names(&folder.path().join("a")), ["figures", "report.md"]);
}

#[test]
fn an_experiment_prints_what_the_report_says() {
    let folder = folder_with_library();
    let leaves = ["-q", "experiment", "leaves", "lib.jsonl", "--hold-out", "3", "--seed", "7"];
    let said = succeed(folder.path(), &leaves);
    assert!(said.starts_with("### The positional evaluation at the leaves\n"), "{said}");
    assert!(said.contains("15 positions held out"), "{said}");
    assert!(said.contains("**Verdict: "), "{said}");
}

#[test]
fn mistakes_leave_nothing_behind() {
    let folder = folder_with_library();
    let said = mistake(folder.path(), &["-q", "report", "lib.jsonl", "--hold-out", "4"]);
    assert_eq!(
        said,
        "8 openings are too few to hold out 4, --hold-out: leave at least 5 openings to fit on"
    );
    let said = mistake(folder.path(), &["-q", "report", "lib.jsonl", "--engine", "./none"]);
    assert!(said.contains("engine ./none"), "{said}");
    let said = mistake(folder.path(), &["-q", "report", "lib.jsonl", "-o", "lib.jsonl/page"]);
    assert!(said.contains("cannot write there"), "{said}");
    mistake(folder.path(), &["-q", "experiment", "leaves", "none.jsonl"]);
    assert_eq!(names(folder.path()), ["lib.jsonl"]);
}
