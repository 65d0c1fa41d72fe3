use std::collections::BTreeMap;

use kibitzer_core::net::Config;

use super::{Meter, Roof};
use crate::{
    AdamW, Error,
    gpu::{
        allocation::Purpose,
        runner::{Part, Runner, Settings},
    },
    parity::cases,
    program::{Op, Over, Program, Sizes, View},
};

/// How fast the operations of one kind run in a network.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationSpeed {
    /// The kind, and `backward` where it is the pass back.
    pub name: String,
    /// Arithmetic done, in 10⁹ operations a second.
    pub gflops: f64,
    /// Data needed, in 10⁹ bytes a second: everything read or written counts once.
    pub gbs: f64,
    /// The least time that the roof allows, as a share of the time taken.
    pub share_of_peak: f64,
}

/// Operations, bytes and seconds.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    flops: f64,
    bytes: f64,
    least: f64,
    seconds: f64,
}

/// Times every operation of a network, forward and backward, on runs of so many positions, and
/// adds up those of a kind. The loss, the gradient's norm and the optimizer are left out.
///
/// # Errors
/// If the configuration is out of range or the device fails.
pub fn operations(
    meter: &Meter<'_>,
    config: &Config,
    positions: usize,
    roof: &Roof,
) -> Result<Vec<OperationSpeed>, Error> {
    let program = Program::new(config)?;
    let purpose = Purpose::Training { average: false };
    let mut runner = Runner::new(meter.device().clone(), &program, positions, purpose)?;
    let positions = runner.plan.capacity.positions();
    let batch = cases::batch(positions, 1, 1);
    let settings = Settings::new(&batch, &AdamW::default(), 0.25);
    let mut encoder = runner.begin();
    let sizes = runner.load(&mut encoder, &batch, 0..positions, &settings);
    runner.submit(encoder)?;

    let network: Vec<&Op> =
        program.ops.iter().filter(|op| !matches!(op, Op::Loss { .. })).collect();
    let forward = network.iter().copied().zip(&runner.plan.forward_ends);
    let backward = network.iter().rev().copied().zip(&runner.plan.backward_ends);
    let mut all: BTreeMap<String, Work> = BTreeMap::new();
    for (part, list) in [
        (Part::Forward, forward.collect::<Vec<_>>()),
        (Part::Backward, backward.collect::<Vec<_>>()),
    ] {
        let mut start = 0;
        for (op, &end) in list {
            let range = start..end;
            start = end;
            let seconds =
                meter.seconds(&|pass| runner.encode_range(pass, part, range.clone(), sizes))?;
            let (flops, bytes) = cost(&program, op, sizes, part);
            let name = match part {
                Part::Backward => format!("{} backward", name(op)),
                _ => name(op).to_owned(),
            };
            let work = all.entry(name).or_default();
            work.flops += flops;
            work.bytes += bytes;
            work.least += roof.seconds(flops, bytes);
            work.seconds += seconds;
        }
    }
    let speed = |(name, work): (String, Work)| OperationSpeed {
        name,
        gflops: work.flops / work.seconds * 1e-9,
        gbs: work.bytes / work.seconds * 1e-9,
        share_of_peak: work.least / work.seconds,
    };
    Ok(all.into_iter().map(speed).collect())
}

/// What the operation is called.
fn name(op: &Op) -> &'static str {
    match op {
        Op::Embed { .. } => "embedding",
        Op::RmsNorm { .. } => "norm",
        Op::Linear { .. } => "matrix product",
        Op::Attention { over: Over::Squares, .. } => "attention over squares",
        Op::Attention { over: Over::Sequence, .. } => "attention over positions",
        Op::SwiGlu { .. } => "SwiGLU",
        Op::Pool { .. } => "pool",
        Op::AddContext { .. } => "context",
        Op::Conv { .. } => "convolution",
        Op::Scan { .. } => "scan",
        Op::Pointwise { .. } => "pointwise",
        Op::LegalLinear { .. } => "pooled policy",
        Op::FromTo { .. } => "from-to policy",
        Op::Loss { .. } => "loss",
    }
}

/// Arithmetic and bytes of one run. The backward pass of a matrix product takes two of its size,
/// attention's five products where the forward pass has two, and the rest about twice as much as
/// forward; it reads and writes gradients beside what the forward pass touched.
fn cost(program: &Program, op: &Op, sizes: Sizes, part: Part) -> (f64, f64) {
    let info = |view: &View| sizes.rows(program.info(view.buffer).rows) * view.width;
    let inputs: usize = op.inputs().iter().map(info).sum();
    let output = program.output_len(op, sizes);
    let parameters: usize = op.parameters().iter().map(ExactSizeIterator::len).sum();
    let touched = match *op {
        // Only what the legal moves need.
        Op::LegalLinear { weight, .. } => inputs + output * (weight.inputs + 2),
        Op::FromTo { from, .. } => output * (2 * from.width + 1),
        _ => inputs + output + parameters,
    };
    let bytes = 4.0 * touched as f64;
    let flops = program.flops(op, sizes) as f64;
    let (more_flops, more_bytes) = match (part, op) {
        (Part::Backward, Op::Attention { .. }) => (2.5, 2.0),
        (Part::Backward, _) => (2.0, 2.0),
        _ => (1.0, 1.0),
    };
    (flops * more_flops, bytes * more_bytes)
}
