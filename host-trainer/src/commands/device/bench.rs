//! What an adapter reaches: peaks, operations, training.
use std::{
    io::{self, Write as _},
    time::{Duration, Instant},
};

use anyhow::Result;
use kibitzer_core::net::{Config, PRESETS};
use kibitzer_gpu::{
    AdamW, Backend as _,
    gpu::{
        Device, Gpu,
        bench::{Meter, OperationSpeed, operations, roof},
    },
    parity::cases,
};
use serde_json::json;

/// The longest that one preset is trained, after its first step.
const TRAINING: Duration = Duration::from_secs(5);
/// Positions of a step, and of a run of the operations: as many as a training step may have, and
/// as few as a software adapter needs to keep each dispatch short.
const POSITIONS: usize = 256;
const SOFTWARE_POSITIONS: usize = 8;
/// Seed of the parameters and of the random positions.
const SEED: u64 = 1;

/// Measures and prints.
///
/// # Errors
/// If the device fails.
pub fn run(adapter: &Device, as_json: bool) -> Result<()> {
    let software = adapter.description().software;
    let positions = if software { SOFTWARE_POSITIONS } else { POSITIONS };
    // The smallest preset is work enough for a software adapter; a GPU needs the largest.
    let preset = if software { PRESETS.last() } else { PRESETS.first() };
    let preset = preset.expect("there are presets");
    let start = Instant::now();
    let clock = move || start.elapsed();
    let meter = Meter::new(adapter, &clock)?;
    let name = &adapter.description().name;
    tracing::info!("measuring {name}");
    let peaks = roof(&meter)?;
    let mut out = io::stdout().lock();
    if !as_json {
        writeln!(out, "{name}")?;
        writeln!(out, "multiply-adds {:>10.1} GFLOP/s", peaks.fma_gflops)?;
        writeln!(out, "copy          {:>10.1} GB/s, read and written", peaks.copy_gbs)?;
        writeln!(out, "\noperations of the {} preset, {positions} positions:", preset.name)?;
    }
    let ops = operations(&meter, &preset.config(), positions, &peaks)?;
    if !as_json {
        ops.iter().try_for_each(|op| print_operation(&mut out, op))?;
        writeln!(out, "\ntraining, {positions} positions a step:")?;
    }
    let mut train = vec![];
    for preset in PRESETS {
        match positions_per_second(adapter, &preset.config(), positions) {
            Ok(speed) => {
                if !as_json {
                    writeln!(out, "{:<8} {speed:>10.1} positions a second", preset.name)?;
                }
                train.push(json!({ "preset": preset.name, "positions_per_second": speed }));
            }
            // A card may be too small for a preset; the others still say something.
            Err(error) => tracing::warn!("{}: {error:#}", preset.name),
        }
    }
    if as_json {
        let ops: Vec<_> = ops
            .iter()
            .map(|op| {
                json!({ "name": op.name, "gflops": op.gflops, "gbs": op.gbs,
                    "share_of_peak": op.share_of_peak })
            })
            .collect();
        let object = json!({ "adapter": name, "fma_gflops": peaks.fma_gflops,
            "copy_gbs": peaks.copy_gbs, "ops": ops, "train": train });
        writeln!(out, "{object}")?;
    }
    Ok(())
}

fn print_operation(out: &mut impl io::Write, op: &OperationSpeed) -> io::Result<()> {
    let OperationSpeed { name, gflops, gbs, share_of_peak } = op;
    let percent = 100.0 * share_of_peak;
    writeln!(out, "{name:<34} {gflops:>9.2} GFLOP/s {gbs:>8.2} GB/s {percent:>6.1} % of its roof")
}

/// By the median of the steps after the first.
fn positions_per_second(adapter: &Device, config: &Config, positions: usize) -> Result<f64> {
    let mut gpu = Gpu::new(adapter.clone(), config, SEED, positions)?;
    let batch = cases::batch(positions, 1, SEED);
    let hyper = AdamW { learning_rate: 1e-5, clip: Some(1.0), ..AdamW::default() };
    gpu.step(&batch, &hyper, 0.25)?;
    let start = Instant::now();
    let mut steps = vec![];
    while steps.is_empty() || start.elapsed() < TRAINING {
        let before = Instant::now();
        gpu.step(&batch, &hyper, 0.25)?;
        steps.push(before.elapsed().as_secs_f64());
    }
    steps.sort_by(f64::total_cmp);
    Ok(positions as f64 / steps[steps.len() / 2])
}
