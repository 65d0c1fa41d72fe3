//! Distillation by the binary: targets, diagnoses, evaluation on a library, charts.
mod common;

use std::{fs, path::Path};

use common::{TINY, fixture, mistake, succeed};
use serde_json::Value;

const STEPS: u64 = 300;

/// A folder with `tiny.json` and `library.jsonl`, every sixth line of the fixture's.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tiny.json"), TINY).unwrap();
    let compressed = fs::File::open(fixture("library.jsonl.zst")).unwrap();
    let text = String::from_utf8(zstd::decode_all(compressed).unwrap()).unwrap();
    let lines: Vec<&str> = text.lines().step_by(6).collect();
    fs::write(folder.path().join("library.jsonl"), lines.join("\n")).unwrap();
    folder
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

fn distill(run: &str, more: &str) -> String {
    format!(
        "-q train distill library.jsonl -o {run} --config tiny.json --steps {STEPS} --batch 16 \
         --lr 0.01 --save-every 100 --seed 5 --device cpu {more}"
    )
}

fn metrics(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn model(run: &Path) -> Vec<u8> {
    fs::read(run.join(format!("step-{STEPS:08}/model.safetensors"))).unwrap()
}

fn number(value: &Value, pointer: &str) -> f64 {
    value.pointer(pointer).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

#[test]
fn a_library_is_learned_measured_and_drawn() {
    let folder = folder();
    let folder = folder.path();
    succeed(folder, &words(&distill("run", "--held-out 0.2 --diagnose-every 100")));
    let lines = metrics(&folder.join("run"));
    let diagnoses: Vec<&Value> = lines.iter().filter(|line| !line["diagnosis"].is_null()).collect();
    let steps: Vec<u64> = diagnoses.iter().map(|line| line["step"].as_u64().unwrap()).collect();
    assert_eq!(steps, [100, 200, 300]);
    for line in &diagnoses {
        assert!((0.0..0.5).contains(&number(line, "/diagnosis/groups/0/update_ratio")), "{line}");
        assert!(number(line, "/diagnosis/noise/noise") > 0.0, "{line}");
        assert!(number(line, "/diagnosis/answers/policy_entropy") > 0.0, "{line}");
    }
    let validation = lines.iter().rfind(|line| !line["validation"].is_null()).unwrap();
    let losses: Vec<f64> = lines.iter().map(|line| number(line, "/policy")).collect();
    let losses: Vec<f64> = losses.into_iter().filter(|loss| loss.is_finite()).collect();
    assert!(losses[losses.len() - 1] < losses[0] - 0.3, "{losses:?}");

    let eval = |more: &str| -> Value {
        let arguments = format!("eval run library.jsonl --json --device cpu {more}");
        serde_json::from_str(&succeed(folder, &words(&arguments))).unwrap()
    };
    // The openings held out in training are those that the run itself has measured.
    let held_out = eval("--held-out=0.2");
    for key in ["positions", "top1", "cross_entropy", "value"] {
        assert_eq!(held_out[key], validation["validation"][key], "{key}");
    }
    let report = eval("");
    let uniform = number(&report, "/baseline/uniform/cross_entropy");
    assert!(number(&report, "/cross_entropy") < uniform, "{report}");
    assert!(number(&report, "/cross_entropy") > number(&report, "/target_entropy"), "{report}");
    let frequency = number(&report, "/baseline/frequency/cross_entropy");
    assert!((0.5 * uniform..1.1 * uniform).contains(&frequency), "{report}");
    assert!(number(&report, "/top10") >= number(&report, "/top5"), "{report}");
    assert!((0.0..=1.0).contains(&number(&report, "/material/pieces/queen/pass_rate")), "{report}");
    assert!(number(&report, "/material/pairs") > 100.0, "{report}");
    // Hotter targets have more entropy.
    let hot = eval("--temperature 0.1 --moves 8");
    assert!(number(&hot, "/target_entropy") > number(&report, "/target_entropy"), "{hot}");

    assert_eq!(succeed(folder, &words("plot run")), "run/plot.svg\n");
    let svg = fs::read_to_string(folder.join("run/plot.svg")).unwrap();
    for text in ["reliability of the value", "value head", "speed", "wanted move first"] {
        assert!(svg.contains(&format!("\n{text}\n")), "{text}");
    }
    // Two runs, one of them cut short in the middle of a line.
    fs::create_dir(folder.join("other")).unwrap();
    let text = fs::read_to_string(folder.join("run/metrics.jsonl")).unwrap();
    let cut = &text[..text.len() - 9];
    fs::write(folder.join("other/metrics.jsonl"), cut).unwrap();
    succeed(folder, &words("-q plot run other/metrics.jsonl -o both.svg"));
    let svg = fs::read_to_string(folder.join("both.svg")).unwrap();
    for text in ["run: training", "other: training"] {
        assert!(svg.contains(&format!("\n{text}\n")), "{text}");
    }
    fs::write(folder.join("other/metrics.jsonl"), text.replacen("\"step\"", "\"ste", 1)).unwrap();
    assert_eq!(
        mistake(folder, &words("plot other")),
        "the line is damaged, other/metrics.jsonl line 1: delete the line, or go on with the \
         run, which drops what is broken"
    );
}

#[test]
fn diagnoses_change_nothing_and_a_run_starts_with_given_weights() {
    let folder = folder();
    let folder = folder.path();
    succeed(folder, &words(&distill("with", "--diagnose-every 7")));
    succeed(folder, &words(&distill("without", "--diagnose-every 0")));
    assert!(model(&folder.join("with")) == model(&folder.join("without")), "the networks differ");
    let plain = |run: &str| -> Vec<Value> {
        let lines = metrics(&folder.join(run)).into_iter();
        let lines = lines.filter(|line| line["diagnosis"].is_null() && !line["loss"].is_null());
        lines
            .map(|line| Value::from([line["loss"].clone(), line["gradient_norm"].clone()].to_vec()))
            .collect()
    };
    assert_eq!(plain("with").len(), STEPS as usize);
    assert_eq!(plain("with"), plain("without"));

    // A step so short that the weights stay as they were.
    let from = "-q train distill library.jsonl -o on --from with --steps 1 --batch 16 --lr 1e-12 \
                --device cpu";
    succeed(folder, &words(from));
    let entropy = |run: &str| {
        let eval = format!("eval {run} library.jsonl --json --device cpu");
        let report: Value = serde_json::from_str(&succeed(folder, &words(&eval))).unwrap();
        number(&report, "/cross_entropy")
    };
    assert!((entropy("on") - entropy("with")).abs() < 1e-5);
    // The same positions with other targets are not what the run has learned from.
    let other = distill("with", "--resume --temperature 0.03");
    assert!(mistake(folder, &words(&other)).starts_with("other positions or targets than"));
}

#[test]
fn positions_that_come_again_count_once() {
    let folder = folder();
    let folder = folder.path();
    let text = fs::read_to_string(folder.join("library.jsonl")).unwrap();
    fs::write(folder.join("again.jsonl"), text.lines().rev().collect::<Vec<_>>().join("\n\n"))
        .unwrap();
    let train = distill("run", "").replace("library.jsonl", "library.jsonl again.jsonl");
    succeed(folder, &words(&train.replace("--steps 300", "--steps 1")));
    let state = fs::read(folder.join("run/step-00000001/state.json")).unwrap();
    let state: Value = serde_json::from_slice(&state).unwrap();
    assert_eq!(state["examples"]["positions"], text.lines().count());
    assert_eq!(state["examples"]["targets"], "winning chances at temperature 0.02, moves all");
}

#[test]
fn mistakes_are_one_line_and_leave_no_run() {
    let folder = folder();
    let folder = folder.path();
    let refuse = |more: &str| {
        let line = mistake(folder, &words(&distill("run", more)));
        assert!(!folder.join("run").exists());
        line
    };
    assert_eq!(
        refuse("--temperature 0"),
        "a temperature out of range, --temperature: give winning chances from 0.0001 to 100, as \
         in 0.02"
    );
    assert!(refuse("--moves best").contains("give all, or a number from 2 as in 8"));
    let flat = refuse("--temperature 1");
    assert!(flat.starts_with("the targets are nearly uniform (they tell 0."), "{flat}");
    assert!(flat.ends_with("library.jsonl: lower --temperature, or insist with --allow-flat"));
    assert!(refuse("--held-out 1").starts_with("a value out of range, --held-out: "));
    assert_eq!(
        refuse("none.jsonl"),
        "cannot read the file (no such file or directory), none.jsonl: check the path and its \
         permissions"
    );
    let text = fs::read_to_string(folder.join("library.jsonl")).unwrap();
    let broken = text.replacen("\n", "\n\n", 3).replacen("[[\"", "[[\"x", 3);
    fs::write(folder.join("broken.jsonl"), broken).unwrap();
    let line = refuse("broken.jsonl");
    assert!(line.contains("broken.jsonl line 1: "), "{line}");
    assert_eq!(
        mistake(folder, &words("plot library.jsonl")),
        "the line is damaged, library.jsonl line 1: delete the line, or go on with the run, which \
         drops what is broken"
    );
    fs::create_dir(folder.join("run")).unwrap();
    assert_eq!(
        mistake(folder, &words("plot run")),
        "no metrics yet, run: wait for the run's first steps, or name another run"
    );
    succeed(folder, &words(&distill("flat", "--temperature 1 --allow-flat").replace("300", "1")));
}
