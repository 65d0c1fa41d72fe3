//! `kibitzer quantize` and what reads its files, by the binary.
mod common;

use std::{fs, path::Path};

use common::{folder_with_records, mistake, names, succeed};
use kibitzer_core::{
    net::{Model, hash, kbz::checksum, scratch_bytes},
    position::parse_fen,
};
use serde_json::Value;

/// Half of the four games are held out, so that both sides have some.
const QUANTIZE: [&str; 7] =
    ["-q", "quantize", "run", "games.pgn", "--held-out=0.5", "--device=cpu", "--output"];

fn folder_with_run() -> tempfile::TempDir {
    let folder = folder_with_records();
    let train = "-q train bc records -o run --config tiny.json --steps 20 --batch 4 --device cpu";
    succeed(folder.path(), &train.split(' ').collect::<Vec<_>>());
    folder
}

fn quantize(folder: &Path, output: &str, more: &[&str]) -> String {
    succeed(folder, &[&QUANTIZE[..], &[output], more].concat())
}

#[test]
fn the_report_describes_the_file() {
    let folder = folder_with_run();
    let report = quantize(folder.path(), "a.kbz", &["--json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    let bytes = fs::read(folder.path().join("a.kbz")).unwrap();
    let model = Model::parse(&bytes).unwrap();
    assert_eq!(report["bytes"], bytes.len());
    assert_eq!(report["scratch_bytes"], scratch_bytes(model.config()));
    assert_eq!(report["hash"], format!("{:016x}", hash(model.config())));
    let parity = &report["parity"];
    assert!(parity["positions"].as_u64().unwrap() >= 5, "{report}");
    assert!(parity["top1_agreement"].as_f64().unwrap() > 0.5, "{report}");
    for key in ["kl", "value_abs_mean", "value_abs_p99"] {
        let figure = parity[key].as_f64().unwrap();
        assert!((0.0..0.05).contains(&figure), "{report}");
    }
    let layers = report["layers"].as_array().unwrap();
    let names: Vec<&str> = layers.iter().map(|layer| layer["layer"].as_str().unwrap()).collect();
    assert_eq!(names[..2], ["embedding", "encoder 0 attention"]);
    assert_eq!(names.last(), Some(&"trunk norm"));
    for layer in layers {
        assert!(layer["signal_to_noise"].as_f64().unwrap() > 30.0, "{layer}");
        assert!(layer["saturated"].as_f64().unwrap() < 0.001, "{layer}");
        assert!(layer["clipped"].as_f64().unwrap() < 0.01, "{layer}");
    }
    // Every stream's error is shared out over its layers.
    let added =
        |layers: &[Value]| layers.iter().filter_map(|layer| layer["added"].as_f64()).sum::<f64>();
    let squares = names.iter().position(|&name| name == "encoder norm").unwrap();
    assert!((added(&layers[..squares]) - 1.0).abs() < 1e-9, "{report}");
    assert!((added(&layers[squares..]) - 1.0).abs() < 1e-9, "{report}");
    // Of one calibrating position many inputs are beyond what it showed.
    let report = quantize(folder.path(), "c.kbz", &["--json", "--calibration=1", "--inputs=8"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    let clipped = |layer: &Value| layer["clipped"].as_f64().unwrap();
    assert!(
        report["layers"].as_array().unwrap().iter().any(|layer| clipped(layer) > 0.01),
        "{report}"
    );
    let worst = report["worst"].as_array().unwrap();
    assert!(worst.len() >= 5 && worst[0]["kl"].as_f64() >= worst[1]["kl"].as_f64(), "{report}");
    parse_fen(worst[0]["fen"].as_str().unwrap()).unwrap();
    // The same again, byte for byte, and in words.
    let text = quantize(folder.path(), "b.kbz", &[]);
    assert!(text.contains("top-1 agreement"), "{text}");
    assert_eq!(fs::read(folder.path().join("b.kbz")).unwrap(), bytes);
}

#[test]
fn model_files_are_evaluated_and_analysed() {
    let folder = folder_with_run();
    quantize(folder.path(), "a.kbz", &[]);
    let eval = |model: &str| -> Value {
        let text =
            succeed(folder.path(), &["-q", "eval", model, "records", "--device=cpu", "--json"]);
        serde_json::from_str(&text).unwrap()
    };
    let (float, integer) = (eval("run"), eval("a.kbz"));
    let entropy = |report: &Value| report["cross_entropy"].as_f64().unwrap();
    assert!((entropy(&float) - entropy(&integer)).abs() < 0.02, "{float} {integer}");
    assert_eq!(float["positions"], integer["positions"]);
    let text =
        succeed(folder.path(), &["-q", "eval", "run", "records", "--against", "a.kbz", "--json"]);
    let compared: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(compared["parity"]["positions"], compared["positions"]);
    assert_eq!(compared["top1"], float["top1"]);
    let fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    let text = succeed(folder.path(), &["-q", "analyse", fen, "--model", "a.kbz", "--json"]);
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["net"]["moves"].as_array().unwrap().len(), 26);
}

#[test]
fn damage_and_other_architectures_are_refused() {
    let folder = folder_with_run();
    quantize(folder.path(), "a.kbz", &[]);
    let whole = fs::read(folder.path().join("a.kbz")).unwrap();
    let refusal = |bytes: &[u8]| {
        fs::write(folder.path().join("b.kbz"), bytes).unwrap();
        let line = mistake(folder.path(), &["-q", "eval", "b.kbz", "records"]);
        let place = ", b.kbz: make it again with kibitzer quantize";
        line.strip_suffix(place).expect("place and mend").to_owned()
    };
    for at in [0, 5, 9, 30, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        refusal(&bytes);
    }
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 4;
    assert!(refusal(&damaged).starts_with("the model file is damaged: its CRC-32 is "));
    assert!(refusal(&whole[..40]).starts_with("the model file says it has "));
    assert!(refusal(b"KBZ").starts_with("the model file is cut short: 3 bytes"));
    // Another perspective: the shapes are the same, the architecture is not.
    let mut other = whole.clone();
    let config = Model::parse(&whole).unwrap().config().clone();
    other[16 + 4 + config.trunk.len() + 6] ^= 1;
    let end = other.len() - 4;
    let crc = checksum(&other[..end]);
    other[end..].copy_from_slice(&crc.to_le_bytes());
    let line = refusal(&other);
    assert!(line.contains(&format!("{:016x}, expected ", hash(&config))), "{line}");
}

#[test]
fn mistakes_leave_no_file() {
    let folder = folder_with_run();
    let before = names(folder.path());
    let run = |arguments: &str| {
        mistake(folder.path(), &format!("-q quantize {arguments}").split(' ').collect::<Vec<_>>())
    };
    assert_eq!(
        run("run records -o none/a.kbz"),
        "cannot write there (no such file or directory), none: \
         choose a folder that exists, can be written and has room"
    );
    for none in ["0", "0.001"] {
        assert_eq!(
            run(&format!("run games.pgn -o a.kbz --held-out {none}")),
            "too few games held out, games.pgn: give more games or a larger --held-out"
        );
    }
    assert_eq!(
        run("run games.pgn -o none/a.kbz --held-out 2"),
        "a share out of range, --held-out: give more than 0, at most 1"
    );
    assert_eq!(
        run("run records -o a.kbz --held-out 0.5"),
        "a share of 0.5 where 0.05 was held out in packing, records: \
         leave the share out, or pack the games again with --held-out"
    );
    let kbz = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/demo.kbz");
    assert_eq!(
        run(&format!("{kbz} games.pgn -o a.kbz")),
        format!("a quantized network, {kbz}: give the float network that it was made of")
    );
    assert!(run("records records -o a.kbz").starts_with("not a whole safetensors file"));
    assert_eq!(names(folder.path()), before);
}
