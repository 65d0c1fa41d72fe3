//! Every buffer of a plan, and what lies where.
use kibitzer_core::{
    inputs::{AUX, SQUARES},
    moves::MOVES,
};

use super::{
    device::Precision,
    layout::Layout,
    plan::{ALIGNMENT, BufferId, Element, Slice},
};
use crate::{
    MemoryPlan,
    program::{Buffer, Op, Program, Rows, Sizes, Slot},
};

/// What a plan is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The forward pass alone: activations share memory as soon as they are no longer needed.
    Evaluation,
    /// Everything, with a running average of the parameters or without.
    Training { average: bool },
}

/// The buffers that hold a batch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inputs {
    pub tokens: Slice,
    pub scalars: Slice,
    pub offsets: Slice,
    pub entries: Slice,
    pub starts: Slice,
    pub by_index: Slice,
    /// The two parts of `targets`.
    pub wanted: Slice,
    pub outcomes: Slice,
    pub targets: Slice,
}

impl Inputs {
    /// Bytes of all of them.
    pub fn bytes(&self) -> u64 {
        let Inputs { tokens, scalars, offsets, entries, starts, by_index, targets, .. } = *self;
        let all = [tokens, scalars, offsets, entries, starts, by_index, targets];
        all.iter().map(|slice| slice.bytes()).sum()
    }
}

/// One buffer of each kind for every chunk of the parameters; all but the parameters are empty
/// in evaluation, and the average where none is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk {
    pub parameters: Slice,
    pub gradient: Slice,
    pub first: Slice,
    pub second: Slice,
    pub average: Slice,
}

/// Buffers for what a single operation needs between its kernels.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scratch {
    /// Partial sums of a split.
    Partial,
    /// One value a row: RMSNorm's scale, attention's delta.
    Row,
    /// Sums over the squares of each position.
    Position,
}

/// Buffers, and the slices of them that a plan's parts take.
#[derive(Debug)]
pub(super) struct Allocation {
    /// Bytes of each buffer.
    pub buffers: Vec<u64>,
    pub inputs: Inputs,
    pub chunks: Vec<Chunk>,
    /// Of the program's buffers and its slots of gradients.
    pub activations: Vec<Slice>,
    pub slots: Vec<Slice>,
    pub losses: Slice,
    pub summary: Slice,
    pub control: Slice,
    positions: usize,
    scratch: [BufferId; 3],
}

/// The next place where a slice may start.
pub(super) const fn align(elements: usize) -> usize {
    elements.next_multiple_of(ALIGNMENT)
}

/// A new buffer.
fn add(buffers: &mut Vec<u64>, element: Element, len: usize) -> Slice {
    let slice = Slice { buffer: BufferId(buffers.len()), element, first: 0, len };
    buffers.push(slice.bytes());
    slice
}

impl Allocation {
    pub fn new(
        program: &Program,
        layout: &Layout,
        capacity: Sizes,
        precision: Precision,
        purpose: Purpose,
    ) -> Allocation {
        let mut all = vec![];
        let buffers = &mut all;
        let positions = capacity.positions();
        let training = matches!(purpose, Purpose::Training { .. });
        let averaging = purpose == Purpose::Training { average: true };
        let stored = Stored::new(program, precision);
        let slot =
            |slot: &Slot| add(buffers, stored.of(slot.rows), capacity.rows(slot.rows) * slot.width);
        let slots = if training { program.slots.iter().map(slot).collect() } else { vec![] };
        let activations = if training {
            activations(program, buffers, capacity, &stored)
        } else {
            shared_activations(program, buffers, capacity, &stored)
        };
        let chunk = |&len: &usize| {
            let besides = if training { len } else { 0 };
            Chunk {
                parameters: add(buffers, Element::F32, len),
                gradient: add(buffers, Element::F32, besides),
                first: add(buffers, Element::F32, besides),
                second: add(buffers, Element::F32, besides),
                average: add(buffers, Element::F32, if averaging { len } else { 0 }),
            }
        };
        let chunks = layout.chunks().iter().map(chunk).collect();
        Allocation {
            inputs: inputs(buffers, positions, capacity.legal),
            chunks,
            activations,
            slots,
            losses: add(buffers, Element::F32, 2 * positions),
            summary: add(buffers, Element::Summary, 1),
            control: add(buffers, Element::Control, 1),
            positions,
            scratch: [(); 3].map(|()| add(buffers, Element::F32, 0).buffer),
            buffers: all,
        }
    }

    /// The first elements of a scratch buffer, which grows to hold them.
    pub fn scratch(&mut self, scratch: Scratch, len: usize) -> Slice {
        let buffer = self.scratch[scratch as usize];
        let slice = Slice { buffer, element: Element::F32, first: 0, len };
        let size = &mut self.buffers[buffer.0];
        *size = slice.bytes().max(*size);
        slice
    }

    /// What the buffers are for.
    pub fn memory(&self) -> MemoryPlan {
        let of = |slices: &[Slice]| {
            let mut ids: Vec<usize> = slices.iter().map(|slice| slice.buffer.0).collect();
            ids.sort_unstable();
            ids.dedup();
            ids.into_iter().map(|id| self.buffers[id]).sum()
        };
        let chunks =
            |pick: fn(&Chunk) -> Slice| of(&self.chunks.iter().map(pick).collect::<Vec<_>>());
        let others = [self.losses, self.summary, self.control];
        let scratch = self.scratch.iter().map(|id| self.buffers[id.0]).sum::<u64>();
        MemoryPlan {
            positions: self.positions,
            parameters: chunks(|chunk| chunk.parameters),
            parameter_gradients: chunks(|chunk| chunk.gradient),
            optimizer: chunks(|chunk| chunk.first)
                + chunks(|chunk| chunk.second)
                + chunks(|chunk| chunk.average),
            activations: of(&self.activations),
            gradients: of(&self.slots),
            scratch: scratch + of(&others),
            batch: self.inputs.bytes(),
        }
    }
}

/// How activations and gradients are stored.
struct Stored {
    precision: Precision,
    /// Buffers that are stored in 32 bits whatever the precision.
    exact: Vec<Buffer>,
}

impl Stored {
    fn new(program: &Program, precision: Precision) -> Stored {
        let exact = |op: &Op| match op {
            Op::Attention { log_sum, .. } => vec![*log_sum],
            Op::Loss { logits, values } => vec![logits.buffer, values.buffer],
            _ => vec![],
        };
        Stored { precision, exact: program.ops.iter().flat_map(exact).collect() }
    }

    fn of(&self, rows: Rows) -> Element {
        // What the loss is computed from is worth its few bytes.
        if rows == Rows::Legal { Element::F32 } else { self.precision.element() }
    }

    fn of_buffer(&self, program: &Program, buffer: Buffer) -> Element {
        let exact = self.exact.contains(&buffer);
        if exact { Element::F32 } else { self.of(program.info(buffer).rows) }
    }
}

/// A buffer for each activation.
fn activations(
    program: &Program,
    buffers: &mut Vec<u64>,
    capacity: Sizes,
    stored: &Stored,
) -> Vec<Slice> {
    let activation = |buffer: Buffer| {
        let info = program.info(buffer);
        let len = capacity.rows(info.rows) * info.width;
        add(buffers, stored.of_buffer(program, buffer), len)
    };
    program.all_buffers().map(activation).collect()
}

/// A buffer for each of the places that activations share.
fn shared_activations(
    program: &Program,
    buffers: &mut Vec<u64>,
    capacity: Sizes,
    stored: &Stored,
) -> Vec<Slice> {
    let places = program.places();
    let mut ids: Vec<Option<BufferId>> = vec![None; places.len()];
    let activation = |(buffer, place): (Buffer, usize)| {
        let info = program.info(buffer);
        let element = stored.of_buffer(program, buffer);
        let len = capacity.rows(info.rows) * info.width;
        let id = ids[place].unwrap_or_else(|| add(buffers, element, 0).buffer);
        ids[place] = Some(id);
        let slice = Slice { buffer: id, element, first: 0, len };
        buffers[id.0] = slice.bytes().max(buffers[id.0]);
        slice
    };
    program.all_buffers().zip(places.iter().copied()).map(activation).collect()
}

fn inputs(buffers: &mut Vec<u64>, positions: usize, legal: usize) -> Inputs {
    let targets = add(buffers, Element::F32, align(legal) + positions);
    Inputs {
        tokens: add(buffers, Element::U32, positions * SQUARES / 4),
        scalars: add(buffers, Element::F32, positions * AUX),
        offsets: add(buffers, Element::U32, positions + 1),
        entries: add(buffers, Element::Entry, legal),
        starts: add(buffers, Element::U32, MOVES + 1),
        by_index: add(buffers, Element::U32, legal),
        wanted: Slice { len: legal, ..targets },
        outcomes: Slice { first: align(legal), len: positions, ..targets },
        targets,
    }
}
