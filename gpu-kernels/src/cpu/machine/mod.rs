//! Buffers of a program, and how each operation runs on them.
mod backward;
mod forward;

pub use backward::ParameterGradient;

use std::{collections::BTreeMap, mem::take};

use kibitzer_core::{inputs::SQUARES, moves::MAX_LEGAL};

use super::{
    matrix::In,
    ops::{attention::Attention, conv::Conv, policy::Squares, scan::Scan},
};
use crate::{
    MemoryPlan, Outputs,
    program::{Buffer, Over, Program, Rows, Sizes, Slot, View},
};

/// What a machine is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The forward pass alone: activations share memory as soon as they are no longer needed.
    Evaluation,
    /// Everything.
    Training,
}

impl Purpose {
    /// Which activation each buffer of a program is.
    fn places(self, program: &Program) -> Vec<usize> {
        match self {
            Purpose::Evaluation => program.places(),
            Purpose::Training => (0..program.buffers.len()).collect(),
        }
    }

    /// Bytes of a vector of all parameters that only training needs.
    pub fn flat(self, program: &Program) -> u64 {
        match self {
            Purpose::Evaluation => 0,
            Purpose::Training => 4 * program.parameters as u64,
        }
    }

    /// The slots that hold gradients.
    fn slots(self, program: &Program) -> &[Slot] {
        match self {
            Purpose::Evaluation => &[],
            Purpose::Training => &program.slots,
        }
    }
}

/// The memory that a program runs in.
#[derive(Debug)]
pub struct Machine {
    program: Program,
    capacity: usize,
    sizes: Sizes,
    /// Which of the activations each buffer is.
    places: Vec<usize>,
    activations: Vec<Vec<f32>>,
    gradients: Vec<Vec<f32>>,
    scratch: Vec<f32>,
}

impl Machine {
    /// Allocates what is needed for chunks of up to `capacity` positions.
    pub fn new(program: Program, capacity: usize, purpose: Purpose) -> Machine {
        let sizes = Machine::sizes(capacity);
        let places = purpose.places(&program);
        let mut machine = Machine {
            activations: vec![vec![]; places.iter().max().map_or(0, |last| last + 1)],
            gradients: vec![vec![]; purpose.slots(&program).len()],
            places,
            scratch: vec![],
            program,
            capacity,
            sizes,
        };
        machine.resize(sizes);
        machine
    }

    /// The program.
    pub const fn program(&self) -> &Program {
        &self.program
    }

    /// What a machine for chunks of up to `capacity` positions keeps in memory, besides parameters
    /// and what single operations need for themselves; nothing is allocated.
    pub fn plan(program: &Program, capacity: usize, purpose: Purpose) -> MemoryPlan {
        let sizes = Machine::sizes(capacity);
        let bytes = |rows, width| 4 * (sizes.rows(rows) * width) as u64;
        let mut activations: BTreeMap<usize, u64> = BTreeMap::new();
        for (place, buffer) in purpose.places(program).into_iter().zip(&program.buffers) {
            let most = activations.entry(place).or_default();
            *most = bytes(buffer.rows, buffer.width).max(*most);
        }
        MemoryPlan {
            positions: capacity,
            activations: activations.into_values().sum(),
            gradients: purpose.slots(program).iter().map(|s| bytes(s.rows, s.width)).sum(),
            ..MemoryPlan::default()
        }
    }

    /// The sizes of the largest chunk.
    const fn sizes(capacity: usize) -> Sizes {
        Sizes { sequences: capacity, length: 1, legal: capacity * MAX_LEGAL }
    }

    /// What it keeps in memory, besides parameters.
    pub fn memory(&self) -> MemoryPlan {
        let bytes = |all: &[Vec<f32>]| all.iter().map(|data| 4 * data.len() as u64).sum();
        MemoryPlan {
            positions: self.capacity,
            activations: bytes(&self.activations),
            gradients: bytes(&self.gradients),
            scratch: 4 * self.scratch.len() as u64,
            ..MemoryPlan::default()
        }
    }

    /// Makes room for `sizes`; what is there stays.
    fn resize(&mut self, sizes: Sizes) {
        self.sizes = sizes;
        let grow = |data: &mut Vec<f32>, rows: Rows, width: usize| {
            let len = sizes.rows(rows) * width;
            if data.len() < len {
                data.resize(len, 0.0);
            }
        };
        for (&place, info) in self.places.iter().zip(&self.program.buffers) {
            grow(&mut self.activations[place], info.rows, info.width);
        }
        for (data, slot) in self.gradients.iter_mut().zip(&self.program.slots) {
            grow(data, slot.rows, slot.width);
        }
    }

    /// Number of elements of a buffer at present.
    fn len(&self, buffer: Buffer) -> usize {
        let info = self.program.info(buffer);
        self.sizes.rows(info.rows) * info.width
    }

    /// A buffer's contents `[rows, width]`.
    pub fn activation(&self, buffer: Buffer) -> &[f32] {
        &self.activations[self.places[buffer.index()]][..self.len(buffer)]
    }

    /// Adds the outputs of the last forward pass.
    pub fn append_outputs(&self, outputs: &mut Outputs) {
        let (logits, values) = self.program.outputs().expect("a network has a loss");
        outputs.logits.extend_from_slice(self.activation(logits.buffer));
        outputs.values.extend_from_slice(self.activation(values.buffer));
    }

    /// Some columns of a buffer.
    pub fn view(&self, view: View) -> In<'_> {
        let stride = self.program.info(view.buffer).width;
        In::new(self.activation(view.buffer), stride, view)
    }

    /// Where a buffer's gradient is.
    fn slot(&self, buffer: Buffer) -> usize {
        self.program.info(buffer).slot.expect("the plan gives every gradient a slot")
    }

    /// A buffer's gradient.
    pub fn gradient(&self, buffer: Buffer) -> &[f32] {
        &self.gradients[self.slot(buffer)][..self.len(buffer)]
    }

    /// Sets a buffer's contents, for those that no operation writes.
    pub fn set_activation(&mut self, sizes: Sizes, buffer: Buffer, data: &[f32]) {
        self.resize(sizes);
        self.activations[self.places[buffer.index()]][..data.len()].copy_from_slice(data);
    }

    /// Sets a buffer's gradient, for those that no operation reads.
    pub fn set_gradient(&mut self, buffer: Buffer, data: &[f32]) {
        let slot = self.slot(buffer);
        self.gradients[slot][..data.len()].copy_from_slice(data);
    }

    /// A buffer's memory, which others may share; it is to be given back by [`Machine::put`].
    fn take(&mut self, buffer: Buffer) -> Vec<f32> {
        take(&mut self.activations[self.places[buffer.index()]])
    }

    fn put(&mut self, buffer: Buffer, data: Vec<f32>) {
        self.activations[self.places[buffer.index()]] = data;
    }

    /// Runs `compute` with the output's memory in hand and the rest to read, and scratch memory.
    fn write(&mut self, output: Buffer, compute: impl FnOnce(&Machine, &mut [f32], &mut Vec<f32>)) {
        let mut data = self.take(output);
        let mut scratch = take(&mut self.scratch);
        compute(self, &mut data[..self.len(output)], &mut scratch);
        self.scratch = scratch;
        self.put(output, data);
    }

    fn attention<'a>(&self, heads: usize, over: Over, bias: Option<&'a [f32]>) -> Attention<'a> {
        let (group, causal) = match over {
            Over::Squares => (SQUARES, false),
            Over::Sequence => (self.sizes.length, true),
        };
        Attention { heads, group, causal, bias }
    }

    const fn conv<'a>(&self, weight: &'a [f32], bias: &'a [f32], taps: usize) -> Conv<'a> {
        Conv { weight, bias, taps, length: self.sizes.length }
    }

    fn scan<'a>(
        &'a self,
        [u, step, bc, z]: [View; 4],
        decay_log: &'a [f32],
        skip: &'a [f32],
    ) -> Scan<'a> {
        let [u, step, bc, z] = [u, step, bc, z].map(|view| self.view(view));
        Scan { u, step, bc, z, decay_log, skip, length: self.sizes.length }
    }

    fn squares(&self, from: View, to: View, promotion: View) -> Squares<In<'_>> {
        let [from, to, promotion] = [from, to, promotion].map(|view| self.view(view));
        Squares { from, to, promotion }
    }
}
