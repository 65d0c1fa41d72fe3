//! Small networks: a thread carries a few positions through the whole network, forward and
//! backward, while they stay in its cache.
//!
//! A batch is cut into chunks, the chunks are dealt to a fixed number of lanes, and each lane adds
//! up a gradient of its own. Neither number depends on the threads, so neither does the result.
use rayon::prelude::*;

use super::{
    chunk::Chunk,
    machine::{Machine, ParameterGradient, Purpose},
    ops::loss::Sums,
    vector::{add, simd},
};
use crate::{Batch, MemoryPlan, Outputs, program::Program};

/// Most parameters of a network that runs in lanes. A lane reads all of them and writes as many
/// gradients for every chunk: they, too, must stay in a cache.
const MAX_PARAMETERS: usize = 1 << 22;
/// Lanes. More threads than lanes share the work within the operations.
const LANES: usize = 8;
/// Positions of a chunk: rows enough for the matrix products, and few enough for a cache.
const POSITIONS: usize = 8;
/// Elements of the gradient that one thread adds up at a time.
const BLOCK: usize = 1 << 14;

/// A network's memory, once for each lane.
#[derive(Debug)]
pub struct Lanes {
    lanes: Vec<Lane>,
    purpose: Purpose,
}

#[derive(Debug)]
struct Lane {
    machine: Machine,
    gradient: Vec<f32>,
}

/// Whether a network is small enough for lanes.
const fn suits(program: &Program) -> bool {
    program.parameters <= MAX_PARAMETERS
}

impl Lanes {
    /// The lanes of a network, unless it is too large for them.
    pub fn new(program: &Program, purpose: Purpose) -> Option<Lanes> {
        let machine = || Machine::new(program.clone(), POSITIONS, purpose);
        let lane = || Lane { machine: machine(), gradient: vec![] };
        suits(program).then(|| Lanes { lanes: (0..LANES).map(|_| lane()).collect(), purpose })
    }

    /// What [`Lanes::new`] would keep in memory.
    pub fn plan(program: &Program, purpose: Purpose) -> Option<MemoryPlan> {
        let lane = MemoryPlan {
            parameter_gradients: purpose.flat(program),
            ..Machine::plan(program, POSITIONS, purpose)
        };
        suits(program).then(|| (0..LANES).fold(MemoryPlan::default(), |all, _| all + lane))
    }

    /// What it keeps in memory; the lanes' gradients, made in the first step, are counted from
    /// the beginning.
    pub fn memory(&self) -> MemoryPlan {
        let lane = |Lane { machine, .. }: &Lane| MemoryPlan {
            parameter_gradients: self.purpose.flat(machine.program()),
            ..machine.memory()
        };
        self.lanes.iter().map(lane).fold(MemoryPlan::default(), |all, lane| all + lane)
    }

    /// The outputs of a valid batch.
    pub fn evaluate(&mut self, batch: &Batch, parameters: &[f32]) -> Outputs {
        let chunks: Vec<_> = Chunk::all(batch, POSITIONS).collect();
        let shares = chunks.par_chunks(chunks.len().div_ceil(LANES));
        let parts = shares.zip(&mut self.lanes).map(|(share, Lane { machine, .. })| {
            let mut outputs = Outputs::default();
            for chunk in share {
                machine.forward(chunk, parameters);
                machine.append_outputs(&mut outputs);
            }
            outputs
        });
        parts.collect::<Vec<_>>().into_iter().fold(Outputs::default(), |mut all, mut part| {
            all.logits.append(&mut part.logits);
            all.values.append(&mut part.values);
            all
        })
    }

    /// The losses of a valid batch with targets, summed, and their gradient.
    pub fn backpropagate(
        &mut self,
        batch: &Batch,
        parameters: &[f32],
        value_weight: f32,
        gradient: &mut [f32],
    ) -> Sums {
        let chunks: Vec<_> = Chunk::all(batch, POSITIONS).collect();
        let shares = chunks.par_chunks(chunks.len().div_ceil(LANES));
        let sums = shares.zip(&mut self.lanes).map(|(share, lane)| {
            let Lane { machine, gradient } = lane;
            gradient.resize(parameters.len(), 0.0);
            let mut sums = Sums::default();
            for (i, chunk) in share.iter().enumerate() {
                machine.forward(chunk, parameters);
                machine.loss(chunk, value_weight, &mut sums);
                let mut gradient = ParameterGradient { data: gradient, fresh: i == 0 };
                machine.backward(chunk, parameters, &mut gradient);
            }
            sums
        });
        let sums: Vec<Sums> = sums.collect();
        let (first, others) =
            self.lanes[..sums.len()].split_first().expect("a batch has positions");
        gradient.par_chunks_mut(BLOCK).enumerate().for_each(|(block, total)| {
            let part = block * BLOCK..block * BLOCK + total.len();
            total.copy_from_slice(&first.gradient[part.clone()]);
            simd(
                #[inline(always)]
                || others.iter().for_each(|lane| add(total, &lane.gradient[part.clone()])),
            );
        });
        sums.into_iter().sum()
    }
}
