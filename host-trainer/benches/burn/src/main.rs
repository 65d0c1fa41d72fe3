//! Positions a second that a training step takes on Kibitzer's shaders and on burn's wgpu backend,
//! on one adapter.
//!
//! ```console
//! $ cd host-trainer/benches/burn
//! $ cargo run --release                            # demo and w128, on the software adapter
//! $ cargo run --release -- --gpu demo w128 full    # on a GPU
//! ```
//!
//! Both sides have the same parameters and the same batch of single positions, and take the same
//! step: forward pass, cross-entropy over the legal moves plus the value's squared error, backward
//! pass, clipping by the whole gradient's norm, AdamW. The losses of their first steps must agree,
//! or nothing is timed. Then both warm up, which is when burn times its kernels, and take turns;
//! each side's pace is that of its best turn. Losses are read late on both sides: burn's once a
//! turn, Kibitzer's two steps behind. burn's batch stays on the device, Kibitzer's is sent anew
//! with each step. burn fuses operations and compiles to SPIR-V where the adapter can take it;
//! `--no-default-features` has it compile to WGSL.
//!
//! The crate stands outside the workspace, since burn and what it needs take long to build.
mod batch;
mod network;
mod parameters;
mod sides;

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use burn::tensor::{Device, DeviceKind};
use kibitzer_core::net::{Config, parameter_count, preset};
use kibitzer_gpu::{
    gpu::{
        self, Choice, MemoryLimits,
        bench::{Meter, tune},
    },
    initialise,
};
use rand::{SeedableRng as _, rngs::ChaCha8Rng};

use sides::{Burn, Kibitzer, Side};

/// Of parameters and batch.
const SEED: u64 = 1;
/// Steps whose losses are compared, and how far apart they may be.
const COMPARED: usize = 10;
const TOLERANCE: f32 = 1e-3;
/// Turns that count.
const TURNS: usize = 7;
/// About how long a turn of one side takes.
const TURN: Duration = Duration::from_secs(3);
/// The longest that Kibitzer's matrix products are timed on a GPU, as in training.
const TUNING: Duration = Duration::from_secs(5);

fn main() -> Result<()> {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let gpu = names.iter().any(|name| name == "--gpu");
    names.retain(|name| name != "--gpu");
    if names.is_empty() {
        names = ["demo", "w128"].map(str::to_owned).to_vec();
    }
    let networks: Vec<_> = names.iter().map(|name| network(name)).collect::<Result<_>>()?;
    let adapters = Adapters::open(gpu)?;
    println!("{}", adapters.name);
    println!("network parameters batch   kibitzer/s       burn/s  ratio  losses apart");
    for (name, (config, positions)) in names.iter().zip(&networks) {
        compare(name, config, *positions, &adapters)?;
    }
    Ok(())
}

/// A network's configuration and the positions of a batch.
fn network(name: &str) -> Result<(Config, usize)> {
    let named = |name: &str| preset(name).map(|preset| preset.config());
    Ok(match name {
        "demo" => (named("demo").context("there is no preset demo")?, 64),
        "w128" => {
            (Config { width: 128, heads: 4, trunk: "ASSA".try_into()?, ..Config::default() }, 32)
        }
        "full" => (Config::default(), 8),
        _ => bail!("no network is called {name}; there are demo, w128 and full"),
    })
}

/// One adapter, opened by both.
struct Adapters {
    name: String,
    kibitzer: gpu::Device,
    burn: Device,
}

impl Adapters {
    fn open(gpu: bool) -> Result<Adapters> {
        let (choice, kind) = if gpu {
            (Choice::Gpu, DeviceKind::DefaultDevice)
        } else {
            (Choice::Software, DeviceKind::Cpu)
        };
        let kibitzer = gpu::Device::open(choice, MemoryLimits::Adapter)?.context("no adapter")?;
        let burn = Device::wgpu(kind);
        let theirs = burn.identity().context("burn does not name its adapter")?;
        let ours = kibitzer.description();
        ensure!(theirs.name == ours.name, "two adapters: {} and {}", ours.name, theirs.name);
        let name = format!("{} ({}, {})", ours.name, ours.backend, ours.driver);
        let kibitzer = if gpu { tuned(kibitzer)? } else { kibitzer };
        Ok(Adapters { name, kibitzer, burn: burn.autodiff() })
    }
}

/// The device with the shapes of matrix products that are fastest on it.
fn tuned(device: gpu::Device) -> Result<gpu::Device> {
    let start = Instant::now();
    let clock = move || start.elapsed();
    let choices = tune(&Meter::new(&device, &clock)?, TUNING, &mut |_| ())?;
    Ok(device.with_choices(choices))
}

fn compare(name: &str, config: &Config, positions: usize, adapters: &Adapters) -> Result<()> {
    let parameters = initialise(config, SEED);
    let batch = batch::random(positions, &mut ChaCha8Rng::seed_from_u64(SEED));
    let mut burn = Burn::new(&adapters.burn, config, &parameters, &batch);
    let mut kibitzer = Kibitzer::new(adapters.kibitzer.clone(), config, &parameters, batch)?;
    let apart = losses_apart(&mut kibitzer, &mut burn)?;
    let best = take_turns([&mut kibitzer, &mut burn])?;
    let pace = best.map(|seconds| positions as f64 / seconds);
    println!(
        "{name:7} {:10} {positions:5} {:12.1} {:12.1} {:6.2} {apart:13.1e}",
        parameter_count(config),
        pace[0],
        pace[1],
        pace[0] / pace[1],
    );
    Ok(())
}

/// The largest difference between the losses of the first steps.
fn losses_apart(kibitzer: &mut Kibitzer, burn: &mut Burn) -> Result<f32> {
    let mut apart = 0f32;
    for step in 0..COMPARED {
        let (ours, theirs) = (kibitzer.train(1)?, burn.train(1)?);
        let difference = (ours - theirs).abs();
        ensure!(difference < TOLERANCE, "step {step}: the losses are {ours} and {theirs}");
        apart = apart.max(difference);
    }
    Ok(apart)
}

/// Seconds of each side's step in its best turn.
fn take_turns(mut sides: [&mut dyn Side; 2]) -> Result<[f64; 2]> {
    let mut steps = [1; 2];
    for (side, steps) in sides.iter_mut().zip(&mut steps) {
        let once = side.time(2)? / 2;
        *steps = (TURN.as_secs_f64() / once.as_secs_f64()).ceil().max(1.0) as usize;
        side.train(*steps)?;
    }
    let mut best = [f64::INFINITY; 2];
    for _ in 0..TURNS {
        for i in 0..2 {
            let seconds = sides[i].time(steps[i])?.as_secs_f64() / steps[i] as f64;
            best[i] = best[i].min(seconds);
        }
    }
    Ok(best)
}
