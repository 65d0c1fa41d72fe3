//! Runs that are killed, interrupted, resumed, tried out and grown, by the binary.
mod common;

use std::{
    fs,
    path::Path,
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use common::{TINY, command, folder_with_records, kibitzer, names, succeed};
use kibitzer_trainer::checkpoint::Checkpoint;
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use serde_json::Value;

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

fn spawn(folder: &Path, arguments: &str) -> Child {
    let mut command = command(folder, &words(arguments));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts")
}

/// Lines of a file of JSON objects that are whole.
fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The steps of the checkpoints in a run's folder, each of which must be whole.
fn checkpoints(run: &Path) -> Vec<u64> {
    let all = if run.is_dir() { names(run) } else { vec![] };
    let named = all.iter().filter(|name| name.starts_with("step-"));
    named.map(|name| Checkpoint::load(&run.join(name)).unwrap().state.step).collect()
}

/// The step of the newest checkpoint.
fn newest(run: &Path) -> Option<u64> {
    let steps = names(run).into_iter().filter_map(|name| name.strip_prefix("step-")?.parse().ok());
    steps.max()
}

/// Killed at fifty moments, mostly while saving, since every second step is saved: each
/// checkpoint left is whole, none but the steps since the last is lost, and the run ends as one
/// that was left alone.
#[test]
fn killed_at_fifty_moments_a_run_loses_nothing_saved() {
    const EVERY: u64 = 2;
    let folder = folder_with_records();
    let folder = folder.path();
    let run = |name: &str| {
        format!(
            "-q train bc records -o {name} --config tiny.json --steps 300 --batch 4 \
             --save-every {EVERY} --keep 2 --seed 3 --device cpu"
        )
    };
    let mut random = ChaCha8Rng::seed_from_u64(9);
    // A run that comes to its end between two kills is followed by another one.
    let (mut kill, mut runs) = (0, vec!["killed".to_owned()]);
    while kill < 50 {
        let name = runs.last().expect("a run").clone();
        let path = folder.join(&name);
        let before = checkpoints(&path).last().copied();
        let resume = if before.is_some() { " --resume" } else { "" };
        let mut child = spawn(folder, &(run(&name) + resume));
        // Every other time something new must be saved first.
        let saved = || names(folder).contains(&name) && newest(&path) > before;
        while kill % 2 == 0 && !saved() && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(random.random_range(0..60)));
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            runs.push(format!("killed-{}", runs.len()));
            continue;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kill += 1;
        let reached =
            lines(&path.join("metrics.jsonl")).iter().filter_map(|l| l["step"].as_u64()).max();
        let after = checkpoints(&path).last().copied();
        assert!(after >= before, "kill {kill}: {before:?}, then {after:?}");
        let lost = reached.unwrap_or(0).saturating_sub(after.unwrap_or(0));
        assert!(lost <= EVERY, "kill {kill}: step {reached:?} was reached, {after:?} saved");
    }
    let last = runs.last().expect("a run");
    let resume = if checkpoints(&folder.join(last)).is_empty() { "" } else { " --resume" };
    succeed(folder, &words(&(run(last) + resume)));
    succeed(folder, &words(&run("whole")));
    for path in runs.iter().map(|name| folder.join(name)) {
        assert_eq!(names(&path), names(&folder.join("whole")));
        assert_eq!(losses(&path), losses(&folder.join("whole")));
    }
}

/// Every loss and validation of a run, which no clock decides.
fn losses(run: &Path) -> Vec<[Value; 4]> {
    let lines = lines(&run.join("metrics.jsonl")).into_iter();
    lines.map(|l| ["step", "policy", "value", "validation"].map(|key| l[key].clone())).collect()
}

#[cfg(unix)]
fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args([name, &pid]).status().unwrap().success());
}

/// Starts a run without end, and waits until it is at work.
#[cfg(unix)]
fn endless(folder: &Path, flags: &str) -> Child {
    let line = format!(
        "-q train bc records -o run --config tiny.json --steps 100000000 --device cpu {flags}"
    );
    let child = spawn(folder, &line);
    while !folder.join("run/metrics.jsonl").exists() {
        thread::sleep(Duration::from_millis(1));
    }
    child
}

#[cfg(unix)]
#[test]
fn a_request_to_end_saves() {
    for name in ["-INT", "-TERM"] {
        let folder = folder_with_records();
        let mut child = endless(folder.path(), "--batch 4");
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{name}");
        assert_eq!(checkpoints(&folder.path().join("run")).len(), 1, "{name}");
    }
}

/// The first step takes long: the first Ctrl-C waits for it, the second does not.
#[cfg(unix)]
#[test]
fn a_second_request_ends_at_once() {
    let folder = folder_with_records();
    let mut child = endless(folder.path(), "--batch 65536");
    signal(&child, "-INT");
    thread::sleep(Duration::from_millis(20));
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(checkpoints(&folder.path().join("run")).is_empty());
}

#[test]
fn averaged_weights_are_used_where_they_are_asked_for() {
    let folder = folder_with_records();
    let folder = folder.path();
    let train = "-q train bc games.pgn -o run --config tiny.json --steps 60 --batch 4 --lr 0.01 \
                 --save-every 20 --device cpu --held-out 0.3 --ema 0.9";
    succeed(folder, &words(train));
    let eval = |flags: &str| -> Value {
        let line = format!("-q eval run games.pgn --device cpu --json {flags}");
        serde_json::from_str(&succeed(folder, &words(&line))).unwrap()
    };
    let (newest, averaged) = (eval("--held-out=0.3"), eval("--held-out=0.3 --ema"));
    assert_ne!(newest["cross_entropy"], averaged["cross_entropy"]);
    let lines = lines(&folder.join("run/metrics.jsonl"));
    let last = lines.iter().rev().find(|line| line["validation"].is_object()).unwrap();
    assert_eq!(last["validation"]["cross_entropy"], newest["cross_entropy"]);
    assert_eq!(last["validation_ema"]["cross_entropy"], averaged["cross_entropy"]);
    // The best one is the one that the metrics say.
    let entropies = lines.iter().filter_map(|l| l["validation_ema"]["cross_entropy"].as_f64());
    let best = eval("--held-out=0.3 --ema --best")["cross_entropy"].as_f64();
    assert_eq!(best, entropies.min_by(f64::total_cmp));
    let quantize = "-q quantize run games.pgn -o net.kbz --device cpu --ema --held-out 1";
    succeed(folder, &words(quantize));
    let fen = "8/8/8/8/8/8/8/K1k5 w - - 0 1";
    let analyse = |flags: &[&str]| {
        succeed(folder, &[&["analyse", fen, "--json", "--model", "run"], flags].concat())
    };
    assert_ne!(analyse(&[]), analyse(&["--ema"]));
}

#[test]
fn what_a_run_is_stands_in_its_folder() {
    let folder = folder_with_records();
    let folder = folder.path();
    let train = "-q train bc records -o run --config tiny.json --batch 4 --device cpu --seed 8";
    succeed(folder, &words(&format!("{train} --steps 2")));
    succeed(folder, &words(&format!("{train} --steps 4 --resume")));
    let run: Value =
        serde_json::from_slice(&fs::read(folder.join("run/run.json")).unwrap()).unwrap();
    assert_eq!(run["config"]["width"], 16);
    assert_eq!(run["settings"]["seed"], 8);
    assert_eq!(run["examples"]["place"], "records");
    assert!(run["examples"]["content"]["fingerprint"].is_string(), "{run}");
    let starts = run["starts"].as_array().unwrap();
    assert_eq!(starts.len(), 2);
    assert_eq!((&starts[0]["step"], &starts[1]["step"]), (&0.into(), &2.into()));
    assert_eq!(starts[0]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(starts[0]["device"], "cpu");
    assert_eq!(starts[0]["command"][2], "train");
}

#[test]
fn one_batch_is_learned_by_heart_or_the_program_says_no() {
    let folder = folder_with_records();
    let folder = folder.path();
    let trial = "-q train bc records -o trial --config tiny.json --batch 8 --device cpu --overfit";
    let said = succeed(folder, &words(&format!("{trial} --lr 0.01")));
    assert!(said.starts_with("learned by heart: after "), "{said}");
    assert!(!lines(&folder.join("trial/overfit.jsonl")).is_empty());
    let refused = common::mistake(folder, &words(&format!("{trial} --lr 0.01 --steps 3")));
    assert!(refused.starts_with("one batch could not be learned by heart: "), "{refused}");
    assert_eq!(names(&folder.join("trial")), ["lock", "overfit.jsonl"]);
}

#[test]
fn a_learning_rate_is_found_and_is_no_run() {
    let folder = folder_with_records();
    let folder = folder.path();
    let trial = "-q train bc records -o trial --config tiny.json --batch 8 --device cpu --lr-range";
    let said = succeed(folder, &words(&format!("{trial} --steps 60")));
    let lines = lines(&folder.join("trial/lr-range.jsonl"));
    let rates: Vec<f64> = lines.iter().map(|l| l["learning_rate"].as_f64().unwrap()).collect();
    assert!(rates.is_sorted() && rates[0] == 1e-6, "{rates:?}");
    let suggested = said.lines().last().unwrap().split_whitespace().last().unwrap();
    let suggested: f64 = suggested.parse().unwrap();
    assert!((1e-5..0.5).contains(&suggested), "{said}");
    assert_eq!(names(&folder.join("trial")), ["lock", "lr-range.jsonl"]);
}

/// A grown network starts with the losses that the smaller one ended with.
#[test]
fn weights_move_into_a_larger_architecture() {
    let folder = folder_with_records();
    let folder = folder.path();
    let train = "train bc games.pgn --batch 16 --device cpu --lr 1e-6 --held-out 0.3";
    let small = format!("-q {train} -o small --config tiny.json --steps 30 --lr 0.01");
    succeed(folder, &words(&small.replacen(" --lr 1e-6", "", 1)));
    let larger = TINY.replace("\"width\": 16", "\"width\": 32").replace("\"S\"", "\"SAS\"");
    fs::write(folder.join("larger.json"), larger).unwrap();
    let grow = format!("{train} -o grown --config larger.json --from small --steps 1");
    let output = kibitzer(folder, &words(&grow));
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && log.contains("tensors copied"), "{log}");
    let entropy = |run: &str| {
        let lines = lines(&folder.join(run).join("metrics.jsonl"));
        let last = lines.iter().rev().find_map(|l| l["validation"]["cross_entropy"].as_f64());
        last.unwrap()
    };
    let (small, grown) = (entropy("small"), entropy("grown"));
    assert!((small - grown).abs() < 0.01, "{small} {grown}");
    let refused = common::mistake(
        folder,
        &words(&format!("-q {train} -o again --config tiny.json --from grown --steps 1")),
    );
    assert!(refused.starts_with("width is 16 where the weights have 32, grown: "), "{refused}");
}
