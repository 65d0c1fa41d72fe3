//! `kibitzer eval --suite`: moves to find.
mod common;

use std::fs;

use common::{fixture, mistake, succeed};
use serde_json::Value;

const SUITE: &str = "\
6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - bm Rd8#; id \"mate.1\";
6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1 ; am Kf1; bm Rd8 + ; id \"mate.2\"
4k3/8/8/3q4/4P3/8/8/4K3 w - - c0 \"exd5=100, e5=3\"; id \"take.1\";
8/8/8/8/8/8/8/8 w - - ; nobody there
4k3/8/8/3q4/4P3/8/8/4K3 w - - bm Qd5;
bqnb1rkr/pppppppp/3n4/8/8/3N4/PPPPPPPP/BQNB1RKR w HFhf - 2 9 bm h3;
4k3/8/8/3q4/4P3/8/8/4K3 w - - ; only a position

# the end
";

#[test]
fn viveka_a_net_and_an_engine_are_rated_and_what_asks_for_nothing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("suite.epd"), SUITE).unwrap();
    let rate = |words: &[&str]| -> Value {
        let all = [&["-q", "eval"], words, &["--json", "--suite", "suite.epd"]].concat();
        serde_json::from_str(&succeed(folder, &all)).unwrap()
    };
    let viveka = rate(&["viveka"]);
    assert_eq!((&viveka["positions"], &viveka["solved"]), (&3.into(), &3.into()));
    assert_eq!((&viveka["points"], &viveka["score"]), (&100.into(), &1.0.into()));
    assert_eq!(viveka["themes"][0]["theme"], "mate");
    assert_eq!(viveka["themes"][0]["positions"], 2);
    assert_eq!(viveka["skipped"], 4);
    assert_eq!(
        viveka["reasons"][0],
        "suite.epd line 4: the board is empty; place both kings at least"
    );
    assert_eq!(viveka["reasons"][1], "suite.epd line 5: the move Qd5 of bm is not legal");
    assert_eq!(
        viveka["reasons"][2],
        "suite.epd line 6: its castling rights are those of Chess960, which is not read"
    );
    let net = rate(&[fixture("demo.kbz").to_str().unwrap()]);
    assert_eq!(net["positions"], 3);
    assert!(net["chooser"].as_str().unwrap().ends_with("demo.kbz"));
    // An engine in sh that answers with the mate, legal where it is legal.
    let engine = "while read -r word rest; do case $word in uci) echo uciok;; \
                  isready) echo readyok;; go) echo bestmove d1d8;; quit) exit;; esac; done\n";
    fs::write(folder.join("engine"), engine).unwrap();
    let words = ["eval", "--engine", "sh engine", "--suite", "suite.epd"];
    let line = mistake(folder, &[&["-q"], &words[..]].concat());
    assert!(line.starts_with("illegal move d1d8 in 4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1, "), "{line}");
    let mates: String = SUITE.lines().take(2).map(|line| format!("{line}\n")).collect();
    fs::write(folder.join("suite.epd"), mates).unwrap();
    assert_eq!(rate(&["--engine", "sh engine"])["solved_share"], 1.0);
}

#[test]
fn the_committed_suite_is_whole() {
    let suites = fixture("suite.epd");
    let words = ["-q", "eval", "viveka", "--json", "--suite", suites.to_str().unwrap()];
    let found: Value = serde_json::from_str(&succeed(std::path::Path::new("."), &words)).unwrap();
    assert_eq!(found["skipped"], 0, "{}", found["reasons"]);
    assert!(found["positions"].as_u64() == Some(54));
}

#[test]
fn a_suite_without_anything_to_find_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("empty.epd"), "").unwrap();
    fs::write(folder.path().join("idle.epd"), "startpos\n").unwrap();
    let line = |file: &str| mistake(folder.path(), &["eval", "viveka", "--suite", file]);
    let mend = "give EPD lines with bm, am, or points in c0 or c8 and c9";
    assert_eq!(line("empty.epd"), format!("no positions, empty.epd: {mend}"));
    assert_eq!(
        line("idle.epd"),
        format!("no move to find (idle.epd line 1: it asks for no move), idle.epd: {mend}")
    );
}
