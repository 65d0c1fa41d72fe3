//! Makes a labelled library with a UCI engine while killing the work five times on the way, and
//! holds it to what is promised: no line is lost, none is there twice, and `judge` reads it.
//!
//! `cargo run --release -p kibitzer-trainer --example interrupted_library -- OUTPUT.jsonl`, with
//! Debian's stockfish installed; or `… OUTPUT.jsonl ENGINE POSITIONS DEPTH TOP_DEPTH`.
use std::{
    collections::HashSet,
    env, fs,
    path::Path,
    process::{Command, ExitCode, exit},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// Kills on the way.
const KILLS: u64 = 5;
/// With this word first, the program is `kibitzer`: what is killed must be a process of its own.
const KIBITZER: &str = "kibitzer";

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == KIBITZER) {
        return kibitzer_trainer::cli::main(env::args_os().skip(1));
    }
    match make(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn kibitzer(words: &[&str]) -> Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.arg(KIBITZER).args(words);
    Ok(command)
}

fn make(words: &[String]) -> Result<()> {
    let word = |i: usize, default: &str| words.get(i).map_or(default, String::as_str).to_owned();
    let output = words.first().context("name the library to write, as in library.jsonl")?;
    let (engine, positions) = (word(1, "/usr/games/stockfish"), word(2, "315"));
    let (depth, top_depth) = (word(3, "10"), word(4, "14"));
    let openings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/openings63.tsv");
    let openings = openings.to_string_lossy();
    let label = [
        "label",
        "--engine",
        &engine,
        "--openings",
        &openings,
        "--positions",
        &positions,
        "--depth",
        &depth,
        "--top-depth",
        &top_depth,
        "--seed",
        "15",
        "-o",
        output,
    ];
    let wanted: u64 = positions.parse().context("a number of positions")?;
    let output = Path::new(output);
    let mut there = numbers(output)?;
    for kill in 1..=KILLS {
        let until = wanted * kill / (KILLS + 1);
        let mut child = kibitzer(&label)?.spawn()?;
        while lines(output) < until {
            ensure!(child.try_wait()?.is_none(), "the work ended before it was killed");
            thread::sleep(Duration::from_millis(20));
        }
        // SIGKILL: nothing can be saved.
        child.kill()?;
        child.wait()?;
        let now = numbers(output)?;
        ensure!(there.is_subset(&now), "a line that was there is lost");
        eprintln!("killed at {} of {wanted} positions", now.len());
        there = now;
    }
    let status = kibitzer(&label)?.status()?;
    ensure!(status.success(), "the last run ended with {status}");
    let all = numbers(output)?;
    ensure!(there.is_subset(&all) && all.len() as u64 == wanted, "{} lines", all.len());
    eprintln!("{} positions, each once, after {KILLS} kills", all.len());
    let judged = kibitzer(&["judge", &output.to_string_lossy()])?.status()?;
    exit(judged.code().unwrap_or(1))
}

/// Whole lines so far.
fn lines(path: &Path) -> u64 {
    fs::read(path).map_or(0, |text| text.iter().filter(|&&byte| byte == b'\n').count() as u64)
}

/// The numbers of the positions in whole lines, each of which must be there once.
fn numbers(path: &Path) -> Result<HashSet<u64>> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let mut numbers = HashSet::new();
    for line in text[..whole].lines() {
        let line: Value = serde_json::from_str(line).context("a line that is not whole")?;
        let number = line["number"].as_u64().context("a line without a number")?;
        ensure!(numbers.insert(number), "position {number} is there twice");
    }
    Ok(numbers)
}
