//! Training by the binary: interrupted or not, a run gives the same losses and the same network.
mod common;

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use common::{command, fixture, folder_with_records, names, succeed};
use kibitzer_trainer::model::Model;
use serde_json::Value;

const STEPS: u64 = 400;
const FIRST_CHECKPOINT: &str = "step-00000020";
const LAST_CHECKPOINT: &str = "step-00000400";

/// The arguments of a run into `run`.
fn train(run: &str) -> Vec<String> {
    let line = format!(
        "train bc records -o {run} --config tiny.json --steps {STEPS} --batch 8 --lr 0.01 \
         --save-every 20 --keep 2 --seed 5 --device cpu --ema 0.9"
    );
    line.split_whitespace().map(str::to_owned).collect()
}

fn strings(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

/// Every line of the metrics without what a clock decides.
fn metrics(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &mut lines {
        for clock in ["positions_per_second", "waiting", "seconds_left"] {
            line.as_object_mut().unwrap().remove(clock);
        }
        if let Some(diagnosis) = line.get_mut("diagnosis") {
            diagnosis.as_object_mut().unwrap().remove("seconds");
        }
    }
    lines
}

/// The network and its average.
fn model(run: &Path) -> [Vec<u8>; 2] {
    ["model.safetensors", "ema.safetensors"]
        .map(|name| fs::read(run.join(LAST_CHECKPOINT).join(name)).unwrap())
}

/// The step that the run calls its best.
fn best(run: &Path) -> u64 {
    let state = fs::read(run.join(LAST_CHECKPOINT).join("state.json")).unwrap();
    let state: Value = serde_json::from_slice(&state).unwrap();
    state["best"]["step"].as_u64().unwrap()
}

/// Starts a run into `run` and ends it after its first checkpoint by `end`; returns whether it
/// was ended before its last step.
fn interrupted(folder: &Path, run: &str, end: impl Fn(&mut Child)) -> bool {
    let mut child = command(folder, &strings(&train(run)))
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    while !folder.join(run).join(FIRST_CHECKPOINT).exists() {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before its first checkpoint");
        thread::sleep(Duration::from_millis(1));
    }
    end(&mut child);
    child.wait().unwrap();
    !folder.join(run).join(LAST_CHECKPOINT).exists()
}

/// Interrupts a run by `end`, resumes it, and compares it with one that was left alone.
fn resumes_exactly(end: impl Fn(&mut Child)) {
    let folder = folder_with_records();
    let folder = folder.path();
    succeed(folder, &strings(&train("whole")));
    // A machine may be too fast once, but hardly five times.
    let run = (0..5).map(|i| format!("run{i}")).find(|run| interrupted(folder, run, &end));
    let run = run.expect("a run is interrupted");
    let mut resume = train(&run);
    resume.push("--resume".into());
    succeed(folder, &strings(&resume));
    assert_eq!(metrics(&folder.join(&run)), metrics(&folder.join("whole")));
    assert!(model(&folder.join(&run)) == model(&folder.join("whole")), "the networks differ");
    let best = best(&folder.join(&run));
    assert_eq!(best, self::best(&folder.join("whole")));
    let newest = ["step-00000380".to_owned(), LAST_CHECKPOINT.into()];
    let mut kept: BTreeSet<String> = newest.into();
    kept.insert(format!("step-{best:08}"));
    kept.extend(["lock", "metrics.jsonl", "run.json"].map(String::from));
    assert_eq!(BTreeSet::from_iter(names(&folder.join(&run))), kept);
}

#[test]
fn a_killed_run_resumes_exactly() {
    resumes_exactly(|child| child.kill().unwrap());
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_saves_and_resumes_exactly() {
    resumes_exactly(|child| {
        let pid = child.id().to_string();
        let sent = std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
        assert!(sent.success());
        let code = child.wait().unwrap().code();
        assert!(code == Some(130) || code == Some(0), "{code:?}");
    });
}

#[test]
fn a_run_learns_the_games_by_heart() {
    let folder = folder_with_records();
    let folder = folder.path();
    succeed(folder, &strings(&train("run")));
    let report = succeed(folder, &["eval", "run", "records", "--json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    let number = |key: &str| report.pointer(key).and_then(Value::as_f64).unwrap_or(f64::NAN);
    // Of 49, three are reached by several games on the same side, and count once.
    assert_eq!(number("/positions"), 46.0);
    // One of the four games is held out, with a fifth of the positions.
    assert!(number("/top1") > 0.7, "{report}");
    assert!(number("/top5") >= number("/top1"), "{report}");
    assert!(number("/cross_entropy") > 0.0, "{report}");
    assert!(number("/value/correlation") > 0.6, "{report}");
    assert!(number("/value/mse") < 0.5, "{report}");
    assert!((0.0..=1.0).contains(&number("/value/ece")), "{report}");
    assert!((0.0..=1.0).contains(&number("/material/pass_rate")), "{report}");
    assert!(number("/target_entropy") > 0.0, "some positions were played on in several ways");
    // Games as they are: every move for itself.
    let pgn = succeed(folder, &["eval", "run", "games.pgn", "--json"]);
    let pgn: Value = serde_json::from_str(&pgn).unwrap();
    assert_eq!((&pgn["positions"], &pgn["target_entropy"]), (&49.into(), &0.0.into()));
}

#[test]
fn a_quantized_run_is_compared_with_its_float_network() {
    let folder = folder_with_records();
    let folder = folder.path();
    succeed(folder, &strings(&train("run")));
    succeed(
        folder,
        &["-q", "quantize", "run", "games.pgn", "--held-out=1", "-o", "net.kbz", "--device", "cpu"],
    );
    let eval = ["eval", "run", "records", "--json", "--device", "cpu", "--against", "net.kbz"];
    let report: Value = serde_json::from_str(&succeed(folder, &eval)).unwrap();
    let parity = &report["parity"];
    assert_eq!(parity["positions"], report["positions"]);
    let number = |key: &str| parity[key].as_f64().unwrap_or(f64::NAN);
    assert!(number("top1_agreement") > 0.9, "{parity}");
    assert!((0.0..0.1).contains(&number("kl")), "{parity}");
    assert!(number("value_abs_mean") <= number("value_abs_p99"), "{parity}");
    assert!(number("value_abs_p99") < 0.1, "{parity}");
    // The integers alone answer much the same.
    let alone = succeed(folder, &["eval", "net.kbz", "records", "--json"]);
    let alone: Value = serde_json::from_str(&alone).unwrap();
    let difference = alone["top1"].as_f64().unwrap() - report["top1"].as_f64().unwrap();
    assert!(difference.abs() < 0.1, "{alone}");
}

#[test]
fn a_file_of_the_reference_s_save_answers_as_the_reference_does() {
    // The expected numbers are PyTorch's, from the reference's `load` and a Python chess library.
    let path = fixture("reference_tiny.safetensors");
    for (fen, value, moves) in [
        (
            "r1bqkb1r/pp3ppp/2n2n2/2ppp3/4P3/2N2N2/PPPP1PPP/R1BQKB1R w KQkq d6 0 6",
            0.245_480_27,
            [("a1b1", 0.992_217_66), ("f3e5", 0.005_089), ("d1e2", 0.000_861_066)],
        ),
        (
            "r3k2r/pp3ppp/8/8/8/8/1p3PPP/R3K2R b KQkq - 14 20",
            0.220_298_84,
            [("a8b8", 0.266_542_1), ("f7f6", 0.261_077_05), ("b2b1b", 0.074_315_77)],
        ),
    ] {
        let arguments = ["analyse", fen, "--json", "--model", path.to_str().unwrap()];
        let text = succeed(Path::new("."), &arguments);
        let answer: Value = serde_json::from_str(&text).unwrap();
        let net = &answer["net"];
        assert!((net["value"].as_f64().unwrap() - value).abs() < 1e-5, "{net}");
        for (i, (mv, probability)) in moves.into_iter().enumerate() {
            let found = &net["moves"][i];
            assert_eq!(found["move"], mv);
            assert!((found["probability"].as_f64().unwrap() - probability).abs() < 1e-5, "{found}");
        }
    }
    // Written again, the tensors keep every bit.
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.safetensors");
    let model = Model::load(&path).unwrap();
    model.save(&copy).unwrap();
    assert_eq!(Model::load(&copy).unwrap(), model);
}

#[test]
fn memory_is_told_and_nothing_written() {
    let folder = folder_with_records();
    let before = names(folder.path());
    let line = "train bc later.pgn -o run --config tiny.json --batch 20 --device cpu --memory";
    let table = succeed(folder.path(), &line.split(' ').collect::<Vec<_>>());
    assert!(table.lines().any(|line| line.starts_with("activations ")), "{table}");
    let line = format!("{line} --ema 0.9");
    let averaging = succeed(folder.path(), &line.split(' ').collect::<Vec<_>>());
    let optimizer =
        |table: &str| table.lines().find(|line| line.starts_with("optimizer ")).map(str::to_owned);
    assert_ne!(optimizer(&table), optimizer(&averaging));
    let last = table.lines().last().unwrap();
    assert!(last.starts_with("a step          20 positions, in "), "{table}");
    assert_eq!(names(folder.path()), before);
}

/// A run on the shaders, with all that a GPU may be asked for.
#[test]
fn a_software_adapter_trains_in_16_bits_and_resumes() {
    let folder = folder_with_records();
    let folder = folder.path();
    let list: Value = serde_json::from_str(&succeed(folder, &["device", "--json"])).unwrap();
    let usable = |adapter: &Value| adapter["software"] == true && adapter["f16"] == true;
    if !list["adapters"].as_array().unwrap().iter().any(usable) {
        eprintln!(
            "skipped: no software adapter with 16-bit floats; cargo xtask setup installs one"
        );
        return;
    }
    let run = |steps: &str, more: &[&str]| {
        let line = "train bc records -o run --config tiny.json --batch 8 --lr 0.01 --ema 0.9 \
                    --device software --precision f16 --save-every 4 --steps";
        let mut arguments: Vec<&str> = line.split_whitespace().collect();
        arguments.push(steps);
        arguments.extend(more);
        succeed(folder, &arguments);
    };
    run("6", &[]);
    run("12", &["--resume"]);
    let text = fs::read_to_string(folder.join("run/metrics.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let losses: Vec<f64> = lines.iter().filter_map(|line| line["loss"].as_f64()).collect();
    assert_eq!(losses.len(), 12, "{text}");
    assert!(losses[11] < losses[0], "{losses:?}");
    assert!(lines.iter().all(|line| line["skipped"].as_u64().unwrap_or(0) == 0), "{text}");
    let eval = |more: &[&str]| {
        let mut arguments = vec!["eval", "run", "records", "--json", "--device", "cpu"];
        arguments.extend(more);
        let report: Value = serde_json::from_str(&succeed(folder, &arguments)).unwrap();
        report["cross_entropy"].as_f64().unwrap()
    };
    let (weights, average) = (eval(&[]), eval(&["--ema"]));
    assert!(weights > 0.0 && average > 0.0 && weights != average, "{weights} {average}");
}

/// Rare kinds of positions are learned more often, which the run records.
#[test]
fn a_balanced_run_records_its_bands() {
    let folder = folder_with_records();
    let folder = folder.path();
    let run = |balance: &str, name: &str| {
        let line = format!(
            "-q train bc records -o {name} --config tiny.json --steps 4 --batch 8 --device cpu \
             --balance {balance}"
        );
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        succeed(folder, &strings(&words));
    };
    run("1", "even");
    let bands = metrics(&folder.join("even"))[0]["bands"].as_array().unwrap().clone();
    assert!(bands.len() > 1, "{bands:?}");
    let share = |band: &Value| band["share"].as_f64().unwrap();
    assert!((bands.iter().map(share).sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(bands.iter().all(|band| (share(band) - 1.0 / bands.len() as f64).abs() < 1e-3));
    let positions: u64 = bands.iter().map(|band| band["positions"].as_u64().unwrap()).sum();
    assert!(positions > 30, "{bands:?}");
    let settings = fs::read_to_string(folder.join("even/run.json")).unwrap();
    assert!(settings.contains("\"balance\": 1.0"), "{settings}");
    run("0", "plain");
    assert!(metrics(&folder.join("plain")).iter().all(|line| line["bands"].is_null()));
    let line = common::mistake(
        folder,
        &["train", "bc", "records", "-o", "no", "--config", "tiny.json", "--balance", "2"],
    );
    assert_eq!(line, "a value out of range, --balance: give from 0 to 1");
}
