//! From a program to dispatches: the plan's buffers, and what the operations' files share.
mod attention;
mod elements;
mod finish;
mod heads;
mod linear;
mod norm;
mod pass;
mod sequence;
mod squares;

use std::ops::Range;

use kibitzer_core::{
    inputs::{AUX, SQUARES},
    moves::{MAX_LEGAL, MOVES},
};

use super::{
    device::Precision,
    layout::Layout,
    plan::{ALIGNMENT, BufferId, Columns, Count, Dispatch, Element, Grid, Kernel, Slice},
    shader,
};
use crate::{
    Error,
    program::{Buffer, BufferInfo, Op, Program, Rows, Sizes, Slot, View},
};

/// Invocations of a workgroup that works element by element.
const ELEMENTS: usize = 256;
/// Columns of a workgroup that sums over rows.
const SUM_COLUMNS: usize = 64;
/// Workgroups that a sum over rows is split for, and the least rows worth a split.
const WANTED_GROUPS: usize = 256;
const SPLIT_ROWS: usize = 256;
/// Most elements of the partial sums of a split.
const MAX_PARTIAL: usize = 1 << 23;
/// Workgroups that share the sum of squares of a chunk of the gradient.
const NORM_GROUPS: usize = 256;

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

/// One buffer of each kind for every chunk of the parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk {
    pub parameters: Slice,
    pub gradient: Slice,
    pub first: Slice,
    pub second: Slice,
}

/// Buffers for what a single operation needs between its kernels.
#[derive(Debug, Clone, Copy)]
enum Scratch {
    /// Partial sums of a split.
    Partial,
    /// One value a row: RMSNorm's scale, attention's delta.
    Row,
    /// Sums over the squares of each position.
    Position,
}

/// Everything that runs, and every buffer it needs.
#[derive(Debug)]
pub(super) struct Plan {
    /// Bytes of each buffer.
    pub buffers: Vec<u64>,
    pub layout: Layout,
    pub chunks: Vec<Chunk>,
    pub inputs: Inputs,
    /// The program's buffers and gradients.
    pub activations: Vec<Slice>,
    pub gradients: Vec<Option<Slice>>,
    pub summary: Slice,
    pub control: Slice,
    /// Most positions and legal entries of one run.
    pub capacity: Sizes,
    /// Everything up to the loss, the loss, and the backward pass.
    pub forward: Vec<Dispatch>,
    pub loss: Vec<Dispatch>,
    pub backward: Vec<Dispatch>,
    /// The gradient's norm; the decision about the step and the optimizer.
    pub norm: Vec<Dispatch>,
    pub update: Vec<Dispatch>,
}

impl Plan {
    /// Plans a program for runs of up to `positions`, fewer if a binding, of at most `binding`
    /// elements, does not hold as many.
    pub fn new(
        program: &Program,
        positions: usize,
        binding: usize,
        precision: Precision,
    ) -> Result<Plan, Error> {
        let layout = Layout::new(program, binding)?;
        let capacity = capacity(program, positions, binding)?;
        Lowering::new(program, layout, capacity, precision).plan()
    }
}

/// The sizes of the largest run that the limit allows.
fn capacity(program: &Program, positions: usize, binding: usize) -> Result<Sizes, Error> {
    // No position has more on-board entries than there are indices; a run of one always fits.
    let entries = |positions: usize| (positions * MAX_LEGAL).max(MOVES);
    let widest = |rows| {
        let widths = program.buffers.iter().map(|b| (b.rows, b.width));
        let widths = widths.chain(program.slots.iter().map(|s| (s.rows, s.width)));
        widths.filter(|&(r, _)| r == rows).map(|(_, width)| width).max().unwrap_or(0)
    };
    let each = [
        widest(Rows::Square) * SQUARES,
        widest(Rows::Position),
        2 * MAX_LEGAL * widest(Rows::Legal).max(1),
        // What a scan needs grows no faster than the positions.
        program.ops.iter().map(|op| sequence::scan_scratch(op, 1)).max().unwrap_or(0),
    ];
    let most = binding / each.into_iter().max().unwrap_or(1).max(1);
    if most == 0 {
        let mib = binding >> 18;
        return Err(Error::Device(format!("one position does not fit a binding of {mib} MiB")));
    }
    let positions = positions.clamp(1, most);
    Ok(Sizes { sequences: positions, length: 1, legal: entries(positions) })
}

struct Lowering<'a> {
    program: &'a Program,
    layout: Layout,
    capacity: Sizes,
    buffers: Vec<u64>,
    activations: Vec<Slice>,
    slots: Vec<Slice>,
    chunks: Vec<Chunk>,
    inputs: Inputs,
    losses: Slice,
    summary: Slice,
    control: Slice,
    precision: Precision,
    scratch: [BufferId; 3],
    dispatches: Vec<Dispatch>,
}

/// A new buffer.
fn add(buffers: &mut Vec<u64>, element: Element, len: usize) -> Slice {
    let slice = Slice { buffer: BufferId(buffers.len()), element, first: 0, len };
    buffers.push(slice.bytes());
    slice
}

/// The next place where a slice may start.
const fn align(elements: usize) -> usize {
    elements.next_multiple_of(ALIGNMENT)
}

impl<'a> Lowering<'a> {
    fn new(
        program: &'a Program,
        layout: Layout,
        capacity: Sizes,
        precision: Precision,
    ) -> Lowering<'a> {
        let mut all = vec![];
        let buffers = &mut all;
        let positions = capacity.positions();
        let exact: Vec<usize> = program.ops.iter().flat_map(exact).map(Buffer::index).collect();
        let legal = capacity.legal;
        let targets = add(buffers, Element::F32, align(legal) + positions);
        let inputs = Inputs {
            tokens: add(buffers, Element::U32, positions * SQUARES / 4),
            scalars: add(buffers, Element::F32, positions * AUX),
            offsets: add(buffers, Element::U32, positions + 1),
            entries: add(buffers, Element::Entry, legal),
            starts: add(buffers, Element::U32, MOVES + 1),
            by_index: add(buffers, Element::U32, legal),
            wanted: Slice { len: legal, ..targets },
            outcomes: Slice { first: align(legal), len: positions, ..targets },
            targets,
        };
        let stored = |rows| match precision {
            // What the loss is computed from is worth its few bytes.
            Precision::F16 if rows != Rows::Legal => Element::F16,
            _ => Element::F32,
        };
        let activation = |(i, info): (usize, &BufferInfo)| {
            let element = if exact.contains(&i) { Element::F32 } else { stored(info.rows) };
            add(buffers, element, capacity.rows(info.rows) * info.width)
        };
        let activations = program.buffers.iter().enumerate().map(activation).collect();
        let slot =
            |slot: &Slot| add(buffers, stored(slot.rows), capacity.rows(slot.rows) * slot.width);
        let slots = program.slots.iter().map(slot).collect();
        let chunk = |&len| Chunk {
            parameters: add(buffers, Element::F32, len),
            gradient: add(buffers, Element::F32, len),
            first: add(buffers, Element::F32, len),
            second: add(buffers, Element::F32, len),
        };
        let chunks = layout.chunks().iter().map(chunk).collect();
        Lowering {
            program,
            capacity,
            activations,
            slots,
            chunks,
            inputs,
            losses: add(buffers, Element::F32, 2 * positions),
            summary: add(buffers, Element::Summary, 1),
            control: add(buffers, Element::Control, 1),
            precision,
            scratch: [(); 3].map(|()| add(buffers, Element::F32, 1).buffer),
            layout,
            buffers: all,
            dispatches: vec![],
        }
    }

    fn plan(mut self) -> Result<Plan, Error> {
        let program = self.program;
        let (loss, network): (Vec<_>, Vec<_>) =
            program.ops.iter().partition(|op| matches!(op, Op::Loss { .. }));
        for op in &network {
            self.forward(op)?;
        }
        let forward = std::mem::take(&mut self.dispatches);
        for op in &loss {
            self.backward(op)?;
        }
        let loss = std::mem::take(&mut self.dispatches);
        for op in network.iter().rev() {
            self.backward(op)?;
        }
        let backward = std::mem::take(&mut self.dispatches);
        self.norm();
        let norm = std::mem::take(&mut self.dispatches);
        self.update();
        let slots = self.slots;
        Ok(Plan {
            gradients: program.buffers.iter().map(|b| b.slot.map(|slot| slots[slot])).collect(),
            buffers: self.buffers,
            layout: self.layout,
            chunks: self.chunks,
            inputs: self.inputs,
            activations: self.activations,
            summary: self.summary,
            control: self.control,
            capacity: self.capacity,
            forward,
            loss,
            backward,
            norm,
            update: self.dispatches,
        })
    }

    fn push(&mut self, kernel: Kernel, grid: Grid) {
        self.dispatches.push(kernel.dispatch(grid));
    }

    /// An invocation for each of so many elements a row; see `elements.wgsl`.
    fn elements(&mut self, kernel: Kernel, rows: Rows, width: usize) -> Result<(), Error> {
        let kernel =
            kernel.with(shader::ELEMENTS).set("ROWS", per_position(rows)?).set("WIDTH", width);
        self.push(kernel, Grid::Items(Count::Each(rows, width), ELEMENTS));
        Ok(())
    }

    /// Adds an input of the operation: of `x` the kernel sees `x`, `X_PITCH` and `X_COLUMN`.
    fn input(&self, kernel: Kernel, name: &str, view: View) -> Kernel {
        let kernel = kernel.view(&name.to_uppercase(), self.columns(view));
        kernel.read(name, self.activation(view.buffer))
    }

    /// Adds an input's gradient: of `x` the kernel sees `dx`, `X_PITCH`, `X_COLUMN` and `X_ADDS`.
    fn input_gradient(&self, kernel: Kernel, name: &str, view: View) -> Result<Kernel, Error> {
        let constant = name.to_uppercase();
        let kernel = kernel
            .view(&constant, self.columns(view))
            .set(&format!("{constant}_ADDS"), view.accumulate);
        Ok(kernel.write(&format!("d{name}"), self.gradient(view.buffer)?))
    }

    fn info(&self, buffer: Buffer) -> (Rows, usize) {
        let info = self.program.info(buffer);
        (info.rows, info.width)
    }

    fn columns(&self, view: View) -> Columns {
        Columns { pitch: self.info(view.buffer).1, column: view.column }
    }

    fn activation(&self, buffer: Buffer) -> Slice {
        self.activations[buffer.index()]
    }

    /// The gradient of a buffer; every buffer that an operation reads or writes has one, but
    /// attention's sums.
    fn gradient(&self, buffer: Buffer) -> Result<Slice, Error> {
        let slot = self.program.info(buffer).slot;
        slot.map(|slot| self.slots[slot])
            .ok_or_else(|| Error::Device(format!("buffer {} has no gradient", buffer.index())))
    }

    fn parameter(&self, flat: &Range<usize>) -> Result<Slice, Error> {
        let (chunk, first) = self.layout.find(flat)?;
        Ok(Slice { first, len: flat.len(), ..self.chunks[chunk].parameters })
    }

    fn parameter_gradient(&self, flat: &Range<usize>) -> Result<Slice, Error> {
        let (chunk, first) = self.layout.find(flat)?;
        Ok(Slice { first, len: flat.len(), ..self.chunks[chunk].gradient })
    }

    /// The first elements of a scratch buffer, which grows to hold them.
    fn scratch(&mut self, scratch: Scratch, len: usize) -> Slice {
        let buffer = self.scratch[scratch as usize];
        let size = &mut self.buffers[buffer.0];
        *size = (len as u64 * Element::F32.bytes()).max(*size);
        Slice { buffer, element: Element::F32, first: 0, len }
    }

    /// Rows of a kind in the largest run.
    fn most_rows(&self, rows: Rows) -> usize {
        self.capacity.rows(rows)
    }

    /// How often to split a sum over rows that is worth `groups` workgroups and `len` elements.
    fn splits(&self, rows: Rows, groups: usize, len: usize) -> usize {
        let for_groups = WANTED_GROUPS.div_ceil(groups);
        let for_rows = self.most_rows(rows).div_ceil(SPLIT_ROWS);
        for_groups.min(for_rows).min(MAX_PARTIAL / len).max(1)
    }

    /// `y += Σ_splits partial[split]`.
    fn reduce(&mut self, partial: Slice, y: Slice, splits: usize) {
        let kernel = Kernel::new(shader::REDUCE).set("LEN", y.len).set("SPLITS", splits);
        let grid = Grid::Items(Count::Fixed(y.len), ELEMENTS);
        self.push(kernel.read("x", partial).write("y", y), grid);
    }
}

/// The buffers of an operation that are stored in 32 bits whatever the precision.
fn exact(op: &Op) -> Vec<Buffer> {
    match op {
        Op::Attention { log_sum, .. } => vec![*log_sum],
        Op::Loss { logits, values } => vec![logits.buffer, values.buffer],
        _ => vec![],
    }
}

/// Rows a position; sums and norms over legal entries do not occur in a network.
fn per_position(rows: Rows) -> Result<usize, Error> {
    match rows {
        Rows::Square => Ok(SQUARES),
        Rows::Position => Ok(1),
        Rows::Legal => Err(Error::Device("an operation on legal entries has no shader".to_owned())),
    }
}
