//! Positions a second of the two ways to answer on a processor, one position at a time on one
//! thread: in floating point and in integers.
//!
//! `cargo bench -p kibitzer-trainer --bench inference`; a part of a network's name as an argument
//! selects it. Speed does not depend on the weights, which are untrained except the demo's.
use std::{
    hint::black_box,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use kibitzer_core::net::{Config, InputBits, PRESETS, Precision};
use kibitzer_gpu::{Batch, initialise};
use kibitzer_trainer::{
    batches,
    device::Device,
    model::Model,
    network::Evaluate,
    quantize::{Integer, calibration, quantize},
    records::Records,
};
use rayon::ThreadPoolBuilder;

/// Positions that are answered in turn.
const POSITIONS: usize = 16;
/// How long each network is measured.
const MEASURED: Duration = Duration::from_secs(5);

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(name)
}

/// Batches of one position each.
fn positions(config: &Config) -> Vec<Batch> {
    let records = Records::open(&fixture("selfplay.pgn.zst")).expect("the fixture is there");
    let batch_of = |number: usize| {
        let mut batch = batches::with_capacity(1);
        let record = &records[number * 97 % records.len()];
        batches::push_record(&mut batch, record, config.perspective).expect("whole");
        Batch { target_policy: vec![], target_value: vec![], ..batch }
    };
    (0..POSITIONS).map(batch_of).collect()
}

/// The network in floats, and in integers whose inputs have 11 bits, 8 or 11, and 8.
fn forms(model: &Model, positions: &[Batch]) -> [(&'static str, Box<dyn Evaluate>); 4] {
    let statistics = calibration::calibrate(model, positions, |_| ()).expect("finite");
    let integer = |inputs| -> Box<dyn Evaluate> {
        let precision = Precision { inputs, ..Precision::default() };
        let file = quantize(&model.config, &model.parameters, &statistics, precision).file;
        Box::new(Integer::new(file).expect("a whole file"))
    };
    let float = Device::Cpu.evaluator(model, 1).expect("a valid network");
    [
        ("float", Box::new(float)),
        ("11 bits", integer(InputBits::Eleven)),
        ("mixed", integer(InputBits::Mixed)),
        ("8 bits", integer(InputBits::Eight)),
    ]
}

fn networks() -> Vec<(&'static str, Model)> {
    let demo = Model::load(&fixture("demo.safetensors")).expect("the fixture is there");
    let untrained = |config: Config| Model { parameters: initialise(&config, 1), config };
    let presets = PRESETS.iter().filter(|preset| preset.name != "demo");
    let others = presets.map(|preset| (preset.name, untrained(preset.config())));
    others.chain([("demo", demo)]).collect()
}

/// Seconds that each of `evaluators` takes for a position: the least of rounds in which they take
/// turns, so that what else the machine does meets both alike.
fn least_seconds(evaluators: &mut [(&str, Box<dyn Evaluate>)], positions: &[Batch]) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; evaluators.len()];
    let start = Instant::now();
    while start.elapsed() < MEASURED {
        for (least, (_, evaluator)) in least.iter_mut().zip(evaluators.iter_mut()) {
            let start = Instant::now();
            for position in positions {
                black_box(evaluator.evaluate(position).expect("a valid batch"));
            }
            *least = least.min(start.elapsed().as_secs_f64() / positions.len() as f64);
        }
    }
    least
}

fn main() {
    // The calling thread is the pool's only one: nothing is handed to another.
    let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("no pool yet");
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for (name, model) in networks() {
        if wanted.as_ref().is_some_and(|wanted| !name.contains(wanted.as_str())) {
            continue;
        }
        let positions = positions(&model.config);
        let mut forms = forms(&model, &positions);
        let seconds = least_seconds(&mut forms, &positions);
        let speeds = forms
            .iter()
            .zip(&seconds)
            .map(|((form, _), s)| format!("{form} {:.0} ({:.2})", 1.0 / s, seconds[0] / s));
        let speeds = speeds.collect::<Vec<_>>().join(", ");
        println!("{name}: {speeds} positions a second (of floats')");
    }
}
