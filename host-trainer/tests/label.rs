//! `kibitzer label` with an engine that can be told to fail: this very test program, which speaks
//! UCI when `FAKE_ENGINE` is set.
mod common;

use std::{
    collections::{BTreeMap, HashSet},
    env, fs,
    io::{self, BufRead as _, Write as _},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::Duration,
};

use common::{fixture, names};
use kibitzer_core::{
    fnv,
    position::parse_fen,
    shakmaty::{Chess, Position as _},
};
use kibitzer_trainer::{library, network::uci};
use serde_json::Value;

/// What the engine is told to do wrong, as words: `once` for the first time on a position only.
const FAKE: &str = "FAKE_ENGINE";
/// A folder in which it notes what it has done.
const NOTES: &str = "FAKE_ENGINE_NOTES";

/// Not a test, but the engine: it returns at once unless it was started as one.
#[test]
fn engine() {
    if let Ok(faults) = env::var(FAKE) {
        let notes = PathBuf::from(env::var(NOTES).unwrap());
        speak(&faults, &notes);
        std::process::exit(0);
    }
}

fn speak(faults: &str, notes: &Path) {
    let has = |word: &str| faults.split(' ').any(|fault| fault == word);
    let most = [("few-lines", 5), ("one-line", 1)].into_iter().find(|&(word, _)| has(word));
    let most = most.map_or(500, |(_, most)| most);
    let mut position = Chess::default();
    let mut lines = 1;
    // The test runner has begun a line.
    println!();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["uci"] => {
                println!("id name Fake 1.0");
                println!("option name MultiPV type spin default 1 min 1 max {most}");
                println!("option name Hash type spin default 1 min 1 max 9\nuciok");
            }
            ["isready"] => println!("readyok"),
            ["setoption", "name", "MultiPV", "value", n] => lines = n.parse().unwrap(),
            ["position", "fen", ..] => position = parse_fen(&words[2..].join(" ")).unwrap(),
            ["go", "depth", depth, ..] => {
                let only = words.get(4..).unwrap_or_default();
                go(&position, depth.parse().unwrap(), lines, only, faults, notes);
            }
            ["stop"] => println!("bestmove 0000"),
            ["quit"] => return,
            _ => {}
        }
        io::stdout().flush().unwrap();
    }
}

/// The score of a move: the position and the move decide.
fn score(position: &Chess, mv: &str, depth: u64) -> i64 {
    let hash = fnv::bytes(fnv::START ^ depth, format!("{:?}{mv}", position.board()).bytes());
    (hash >> 20) as i64 % 300 - 150
}

fn go(position: &Chess, depth: u64, lines: usize, only: &[&str], faults: &str, notes: &Path) {
    let key = fnv::bytes(fnv::START, format!("{:?}", position.board()).bytes());
    // One position in seven is a bad one.
    let bad = (key >> 7) % 7 == 0;
    let note = notes.join(format!("{key:016x}"));
    let has = |word: &str| faults.split(' ').any(|fault| fault == word);
    let first = !note.exists();
    if has("broken") {
        std::process::exit(3);
    }
    if bad && depth > 6 && (first || !has("once")) {
        fs::write(&note, "").unwrap();
        if has("die") {
            std::process::exit(3);
        }
        if has("hang") {
            thread::sleep(Duration::from_secs(60));
        }
        if has("nonsense") {
            println!("info depth x score cp a pv z9z9\n\u{1}\u{2}\nbestmove 0000");
            return;
        }
    }
    if has("slow") {
        thread::sleep(Duration::from_millis(15));
    }
    let mut moves: Vec<String> = position.legal_moves().into_iter().map(uci).collect();
    if !only.is_empty() {
        moves.retain(|mv| only.contains(&mv.as_str()));
    }
    moves.sort_by_key(|mv| -score(position, mv, depth));
    moves.truncate(lines);
    if has("miss") && bad && depth > 6 && moves.len() > 1 {
        moves.pop();
    }
    let depth = if has("shallow") && bad && depth > 8 { depth - 2 } else { depth };
    for (rank, mv) in (1..).zip(&moves) {
        let cp = score(position, mv, depth);
        println!("info depth {depth} seldepth 9 multipv {rank} score cp {cp} nodes 1 pv {mv}");
    }
    if has("endless") {
        return;
    }
    println!("bestmove {}", moves.first().map_or("(none)", |mv| mv));
}

/// `kibitzer label` in `folder`, with the engine told to do these faults.
fn label(folder: &Path, flags: &str, faults: &str) -> Command {
    let notes = folder.join("notes");
    fs::create_dir_all(&notes).unwrap();
    let me = env::current_exe().unwrap();
    let engine = format!("{} --exact engine --nocapture --test-threads=1", me.display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_kibitzer"));
    command.current_dir(folder).args(["label", "--engine", &engine]).args(flags.split(' '));
    command.env(FAKE, format!("fake {faults}")).env(NOTES, notes);
    command
}

fn run(folder: &Path, flags: &str, faults: &str) -> Output {
    label(folder, flags, faults).output().expect("the binary starts")
}

fn succeed(folder: &Path, flags: &str, faults: &str) -> String {
    let output = run(folder, flags, faults);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{flags}: {stderr}");
    stderr
}

fn mistake(folder: &Path, flags: &str, faults: &str) -> String {
    let output = run(folder, flags, faults);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{flags}: {stderr}");
    stderr.lines().last().unwrap().to_owned()
}

/// A folder with `openings.tsv`, and the flags of self-play in it.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(fixture("openings63.tsv"), folder.path().join("openings.tsv")).unwrap();
    folder
}

const PLAY: &str = "--openings openings.tsv --depth 8 --top-depth 9 --workers 2 -o lib.jsonl";

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn numbers(lines: &[Value]) -> Vec<u64> {
    lines.iter().map(|line| line["number"].as_u64().unwrap()).collect()
}

#[test]
fn self_play_makes_a_library_that_judges_read_balanced_over_openings() {
    let folder = folder();
    let said = succeed(folder.path(), &format!("{PLAY} --positions 126"), "");
    assert!(said.contains("126 positions labelled, 0 given up, 0 engines started again"), "{said}");
    let path = folder.path().join("lib.jsonl");
    let lines = lines(&path);
    assert_eq!(numbers(&lines), (0..126).collect::<Vec<_>>());
    let mut openings: BTreeMap<&str, u32> = BTreeMap::new();
    for line in &lines {
        *openings.entry(line["opening"].as_str().unwrap()).or_default() += 1;
        assert_eq!((&line["all_depth"], &line["top_depth"]), (&8.into(), &9.into()));
        assert_eq!(line["engine"], "Fake 1.0");
        let all = line["all"].as_array().unwrap();
        assert!(all.is_sorted_by_key(|entry| entry[0].as_str().unwrap().to_owned()));
        let top = line["top"].as_array().unwrap();
        assert_eq!(top.len(), all.len().min(3));
        assert!(top.is_sorted_by_key(|entry| -entry[1].as_i64().unwrap()));
        assert!(top.iter().all(|entry| entry[2][0] == entry[0]));
    }
    assert!(openings.len() == 63 && openings.values().all(|&count| count == 2), "{openings:?}");
    // What is read checks that every legal move has its label.
    let read = library::read(&path).unwrap();
    assert!(read.len() > 120, "hardly any position comes twice");
    let plies: HashSet<u64> = lines.iter().map(|line| line["ply"].as_u64().unwrap()).collect();
    assert!(plies.len() > 30 && plies.iter().all(|&ply| ply >= 4), "{plies:?}");
    assert_eq!(names(folder.path()), ["lib.jsonl", "lib.jsonl.run", "notes", "openings.tsv"]);
    let again = succeed(folder.path(), &format!("{PLAY} --positions 126"), "");
    assert!(again.contains("126 of 126 positions are labelled"), "{again}");
    let other = mistake(folder.path(), &format!("{PLAY} --positions 126 --seed 2"), "");
    assert_eq!(
        other,
        "kibitzer: seed is 2 where the file was begun with 1, lib.jsonl: \
         give the same again, or choose another file"
    );
}

/// Killed at ten moments and once cut short within a line: the finished file is that of a run
/// that was left alone, byte for byte.
#[test]
fn killed_and_resumed_nothing_is_lost_or_there_twice() {
    let folder = folder();
    let folder = folder.path();
    let whole = PLAY.replace("lib", "whole");
    succeed(folder, &format!("{whole} --positions 63"), "");
    let flags = format!("{PLAY} --positions 63");
    let path = folder.join("lib.jsonl");
    let mut before = 0;
    for kill in 0..10 {
        let mut command = label(folder, &flags, "slow");
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(150 + 130 * kill));
        child.kill().unwrap();
        child.wait().unwrap();
        let text = fs::read_to_string(&path).unwrap_or_default();
        let there = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        let there: Vec<Value> = there.collect();
        assert!(there.len() >= before, "lost {before} {}", there.len());
        before = there.len();
        let different: HashSet<u64> = numbers(&there).into_iter().collect();
        assert_eq!(different.len(), there.len(), "a line is there twice");
    }
    let bytes = fs::read(&path).unwrap();
    if bytes.len() > 40 {
        fs::write(&path, &bytes[..bytes.len() - 30]).unwrap();
    }
    succeed(folder, &flags, "");
    assert!(fs::read(&path).unwrap() == fs::read(folder.join("whole.jsonl")).unwrap());
}

/// After Ctrl-C the engines are gone, what was finished is there, and the status says so.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_work_in_order() {
    let folder = folder();
    let folder = folder.path();
    let mut command = label(folder, &format!("{PLAY} --positions 630"), "slow");
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let path = folder.join("lib.jsonl");
    while fs::metadata(&path).map_or(0, |file| file.len()) < 2000 {
        thread::sleep(Duration::from_millis(20));
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains(" positions labelled, 0 given up"), "{said}");
    assert!(!lines(&path).is_empty(), "every line is whole");
}

#[test]
fn shards_one_after_the_other_are_the_whole() {
    let folder = folder();
    let folder = folder.path();
    succeed(folder, &format!("{PLAY} --positions 40"), "");
    let mut joined = Vec::new();
    for shard in 1..=3 {
        let part = PLAY.replace("lib", &format!("part{shard}"));
        succeed(folder, &format!("{part} --positions 40 --shard {shard}/3"), "");
        joined.extend(fs::read(folder.join(format!("part{shard}.jsonl"))).unwrap());
    }
    assert!(joined == fs::read(folder.join("lib.jsonl")).unwrap());
}

/// Records are read where they lie; what is done of a shard is a part of the whole.
#[test]
fn positions_of_records_are_labelled_in_their_order() {
    let folder = folder();
    let folder = folder.path();
    let pack = |output: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kibitzer"));
        let words = ["-q", "pack", "-o", output, "--ply", "0..3", "--held-out", "0.5"];
        let games = fixture("selfplay.pgn.zst");
        assert!(command.current_dir(folder).args(words).arg(games).status().unwrap().success());
    };
    pack("records");
    let flags = |output: &str| format!("records -o {output}.jsonl --depth 8 --top-depth 9");
    succeed(folder, &flags("whole"), "");
    let whole = fs::read(folder.join("whole.jsonl")).unwrap();
    let mut joined = Vec::new();
    for shard in 1..=2 {
        let part = format!("part{shard}");
        succeed(folder, &format!("{} --shard {shard}/2", flags(&part)), "");
        joined.extend(fs::read(folder.join(format!("{part}.jsonl"))).unwrap());
    }
    assert!(joined == whole);
    let lines = lines(&folder.join("whole.jsonl"));
    let fens: HashSet<&str> = lines.iter().map(|line| line["fen"].as_str().unwrap()).collect();
    let starts = fens.iter().filter(|fen| fen.ends_with(" w KQkq - 0 1")).count();
    assert_eq!(
        (starts, fens.len()),
        (1, lines.len()),
        "what both sides have reached is there once"
    );
    assert!(lines[0]["opening"].as_str().unwrap().starts_with("game "));
    succeed(folder, &format!("{} --positions 5", flags("some")), "");
    assert!((4..=5).contains(&self::lines(&folder.join("some.jsonl")).len()));
}

/// One position in seven makes the engine fail, once or always.
#[test]
fn an_engine_that_fails_is_started_again_and_what_cannot_be_labelled_is_noted() {
    for (fault, reason) in [
        ("die", "the engine stopped answering"),
        ("hang", "the engine did not answer within 1 s"),
        ("nonsense", "no score for some of the "),
        ("miss", "no score for some of the "),
        ("shallow", "depth 7 where 9 was asked for in "),
    ] {
        let folder = folder();
        let folder = folder.path();
        let flags = format!("{PLAY} --positions 12 --patience 1 --workers 3");
        let flags = flags.replace("--workers 2 ", "");
        let path = folder.join("lib.jsonl");
        if fault != "miss" && fault != "shallow" {
            let said = succeed(folder, &flags, &format!("{fault} once"));
            assert!(said.contains("; it is started again"), "{fault}: {said}");
            assert!(said.contains(reason), "{fault}: {said}");
            assert_eq!(lines(&path).len(), 12, "{fault}: all at the second try");
            if fault == "hang" {
                continue;
            }
            fs::remove_file(&path).unwrap();
            fs::remove_file(folder.join("lib.jsonl.run")).unwrap();
        }
        let said = succeed(folder, &flags, fault);
        assert!(said.contains(" is given up: "), "{fault}: {said}");
        let there = lines(&path).len();
        assert!((6..12).contains(&there), "{fault}: {there}");
        let notes = lines(&folder.join("lib.jsonl.run"));
        let skipped: Vec<&Value> = notes[1..].iter().map(|note| &note["why"]).collect();
        assert_eq!(there + skipped.len(), 12);
        assert!(skipped.iter().all(|why| why.as_str().unwrap().starts_with(reason)), "{skipped:?}");
        // What was given up is not tried again.
        let again = succeed(folder, &flags, fault);
        let expected = format!("{there} of 12 positions are labelled, {} given up", skipped.len());
        assert!(again.contains(&expected), "{again}");
    }
}

#[test]
fn an_engine_of_few_lines_is_asked_for_some_moves_after_the_others() {
    let folder = folder();
    let folder = folder.path();
    let flags = "-o few.jsonl --positions 30 --depth 8 --top-depth 9 --workers 1";
    let games = fixture("selfplay.pgn.zst");
    succeed(folder, &format!("{} {flags}", games.display()), "few-lines");
    let flags = flags.replace("few", "many");
    succeed(folder, &format!("{} {flags}", games.display()), "");
    assert!(
        fs::read(folder.join("few.jsonl")).unwrap() == fs::read(folder.join("many.jsonl")).unwrap()
    );
}

/// Each of the best moves takes a search of its own: none may use up the others' time.
#[test]
fn a_cap_leaves_time_for_every_search_of_an_engine_of_one_line() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("a.fen"), "startpos\n8/8/8/8/8/8/P6k/K7 w - - 0 1\n").unwrap();
    let flags = "a.fen -o lib.jsonl --depth 8 --top-depth 9 --workers 1 --cap 0.4";
    let said = succeed(folder, flags, "one-line endless");
    assert!(said.contains("2 positions labelled, 0 given up, 0 engines started again"), "{said}");
    let tops: Vec<usize> = lines(&folder.join("lib.jsonl"))
        .iter()
        .map(|line| line["top"].as_array().unwrap().len())
        .collect();
    assert_eq!(tops, [3, 3]);
}

#[test]
fn what_a_broken_engine_fails_on_is_tried_again_with_a_sound_one() {
    let folder = folder();
    let folder = folder.path();
    let flags = format!("{PLAY} --positions 25");
    let line = mistake(folder, &flags, "broken");
    assert!(line.starts_with("kibitzer: 10 positions in a row have failed, engine "), "{line}");
    assert!(lines(&folder.join("lib.jsonl")).is_empty());
    let said = succeed(folder, &flags, "");
    assert!(said.contains("0 of 25 positions are labelled, 0 given up"), "{said}");
    assert_eq!(lines(&folder.join("lib.jsonl")).len(), 25);
}

#[test]
fn mistakes_are_one_line() {
    let folder = folder();
    let folder = folder.path();
    assert_eq!(
        mistake(folder, &format!("{PLAY} --positions 9 --option Threads=2"), ""),
        format!(
            "kibitzer: the engine has no option Threads, engine {} --exact engine --nocapture \
             --test-threads=1: use one of MultiPV, Hash",
            env::current_exe().unwrap().display()
        )
    );
    assert_eq!(
        mistake(folder, &format!("{PLAY} --positions 9 --cap -1"), ""),
        "kibitzer: unexpected argument '-1' found, the command line: see kibitzer --help"
    );
    assert_eq!(
        mistake(folder, &format!("{PLAY} --positions 9 --cap 0"), ""),
        "kibitzer: a time out of range, --cap: give seconds, as in 2.5"
    );
    assert_eq!(
        mistake(folder, "openings.tsv -o lib.jsonl.zst", ""),
        "kibitzer: a compressed file cannot grow line by line, lib.jsonl.zst: \
         name a .jsonl, and compress it when it is finished"
    );
    assert_eq!(names(folder), ["notes", "openings.tsv"]);
    fs::write(folder.join("lib.jsonl"), "something\n").unwrap();
    assert_eq!(
        mistake(folder, &format!("{PLAY} --positions 9"), ""),
        "kibitzer: a file is there that is not known to be of this work, lib.jsonl: \
         choose another file, or restore the one beside it that ends in .run"
    );
    assert_eq!(fs::read_to_string(folder.join("lib.jsonl")).unwrap(), "something\n");
}
