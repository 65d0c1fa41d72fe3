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
    inputs::SQUARES,
    moves::{MAX_LEGAL, MOVES},
};

use super::{
    allocation::{Allocation, Chunk, Inputs, Purpose, Scratch, align},
    device::Precision,
    gemm::Choices,
    layout::Layout,
    plan::{Columns, Count, Dispatch, Element, Grid, Kernel, Slice},
    shader,
};
use crate::{
    Error, MemoryPlan,
    program::{Buffer, Op, Program, Rows, Sizes, View},
};

/// Invocations of a workgroup that works element by element.
const ELEMENTS: usize = 256;
/// Columns of a workgroup that sums over rows.
const SUM_COLUMNS: usize = 64;
/// The least rows worth a split of a sum over them.
const SPLIT_ROWS: usize = 256;
/// A dispatch may take so many milliseconds: drivers end what holds a screen for seconds. Products
/// of other sizes than those timed may be four times slower.
const LONGEST: u64 = 500 / 4;
/// Most elements of the partial sums of a split.
const MAX_PARTIAL: usize = 1 << 23;
/// Workgroups that share the sum of squares of a chunk of the gradient.
const NORM_GROUPS: usize = 256;

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
    /// What the buffers are for.
    pub memory: MemoryPlan,
    /// Everything up to the loss, the loss, and the backward pass.
    pub forward: Vec<Dispatch>,
    pub loss: Vec<Dispatch>,
    pub backward: Vec<Dispatch>,
    /// Where the dispatches of each operation but the loss end, in the order of each pass.
    pub forward_ends: Vec<usize>,
    pub backward_ends: Vec<usize>,
    /// The gradient's norm; the decision about the step and the optimizer; the step of the
    /// parameters' average.
    pub norm: Vec<Dispatch>,
    pub update: Vec<Dispatch>,
    pub average: Vec<Dispatch>,
}

impl Plan {
    /// Plans a program for runs of up to `positions`, fewer if a binding, of at most `binding`
    /// elements, does not hold as many.
    pub fn new(
        program: &Program,
        positions: usize,
        binding: usize,
        precision: Precision,
        purpose: Purpose,
        choices: &Choices,
    ) -> Result<Plan, Error> {
        let layout = Layout::new(program, binding)?;
        let capacity = capacity(program, positions, binding, precision, choices)?;
        let allocation = Allocation::new(program, &layout, capacity, precision, purpose);
        let dispatches = vec![];
        Lowering { program, choices, layout, capacity, allocation, precision, purpose, dispatches }
            .plan()
    }
}

/// The sizes of the largest run that the limit allows.
fn capacity(
    program: &Program,
    positions: usize,
    binding: usize,
    precision: Precision,
    choices: &Choices,
) -> Result<Sizes, Error> {
    // No position has more on-board entries than there are indices; a run of one always fits.
    let entries = |positions: usize| (positions * MAX_LEGAL).max(MOVES);
    let widest = |rows| {
        let widths = program.buffers.iter().map(|b| (b.rows, b.width));
        let widths = widths.chain(program.slots.iter().map(|s| (s.rows, s.width)));
        widths.filter(|&(r, _)| r == rows).map(|(_, width)| width).max().unwrap_or(0)
    };
    // In bytes. What is stored in 32 bits for either precision is narrow.
    let exact = Element::F32.bytes() as usize;
    let stored = precision.element().bytes() as usize;
    let each = [
        stored * widest(Rows::Square) * SQUARES,
        stored * widest(Rows::Position),
        exact * 2 * MAX_LEGAL * widest(Rows::Legal).max(1),
        // What a scan needs grows no faster than the positions.
        exact * program.ops.iter().map(|op| sequence::scan_scratch(op, 1)).max().unwrap_or(0),
    ];
    let most = exact * binding / each.into_iter().max().unwrap_or(1).max(1);
    if most == 0 {
        let mib = binding >> 18;
        return Err(Error::Device(format!("one position does not fit a binding of {mib} MiB")));
    }
    let in_time = match choices.mflops {
        Some(mflops) => (1000 * mflops * LONGEST / heaviest(program)).max(1) as usize,
        None => most,
    };
    let positions = positions.clamp(1, most.min(in_time));
    Ok(Sizes { sequences: positions, length: 1, legal: entries(positions) })
}

/// Operations of the heaviest matrix product, a position.
fn heaviest(program: &Program) -> u64 {
    let position = Sizes { sequences: 1, length: 1, legal: 1 };
    let products = program.ops.iter().filter(|op| matches!(op, Op::Linear { .. }));
    products.map(|op| program.flops(op, position) as u64).max().unwrap_or(0).max(1)
}

struct Lowering<'a> {
    program: &'a Program,
    choices: &'a Choices,
    layout: Layout,
    capacity: Sizes,
    allocation: Allocation,
    precision: Precision,
    purpose: Purpose,
    dispatches: Vec<Dispatch>,
}

impl Lowering<'_> {
    fn plan(mut self) -> Result<Plan, Error> {
        let program = self.program;
        let (loss, network): (Vec<_>, Vec<_>) =
            program.ops.iter().partition(|op| matches!(op, Op::Loss { .. }));
        let mut forward_ends = vec![];
        for op in &network {
            self.forward(op)?;
            forward_ends.push(self.dispatches.len());
        }
        let forward = std::mem::take(&mut self.dispatches);
        let mut backward_ends = vec![];
        let mut parts = [(); 5].map(|()| vec![]);
        if let Purpose::Training { average } = self.purpose {
            for op in &loss {
                self.backward(op)?;
            }
            parts[0] = std::mem::take(&mut self.dispatches);
            for op in network.iter().rev() {
                self.backward(op)?;
                backward_ends.push(self.dispatches.len());
            }
            parts[1] = std::mem::take(&mut self.dispatches);
            self.norm();
            parts[2] = std::mem::take(&mut self.dispatches);
            self.update();
            parts[3] = std::mem::take(&mut self.dispatches);
            if average {
                self.average();
            }
            parts[4] = std::mem::take(&mut self.dispatches);
        }
        let [loss, backward, norm, update, average] = parts;
        let memory = self.allocation.memory();
        let Allocation { buffers, inputs, chunks, activations, slots, summary, control, .. } =
            self.allocation;
        Ok(Plan {
            gradients: program.buffers.iter().map(|b| slots.get(b.slot?).copied()).collect(),
            buffers,
            layout: self.layout,
            chunks,
            inputs,
            activations,
            summary,
            control,
            capacity: self.capacity,
            memory,
            forward,
            forward_ends,
            loss,
            backward,
            backward_ends,
            norm,
            update,
            average,
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
        self.allocation.activations[buffer.index()]
    }

    /// The gradient of a buffer; every buffer that an operation reads or writes has one, but
    /// attention's sums.
    fn gradient(&self, buffer: Buffer) -> Result<Slice, Error> {
        let slot = self.program.info(buffer).slot;
        slot.map(|slot| self.allocation.slots[slot])
            .ok_or_else(|| Error::Device(format!("buffer {} has no gradient", buffer.index())))
    }

    fn parameter(&self, flat: &Range<usize>) -> Result<Slice, Error> {
        let (chunk, first) = self.layout.find(flat)?;
        Ok(Slice { first, len: flat.len(), ..self.allocation.chunks[chunk].parameters })
    }

    fn parameter_gradient(&self, flat: &Range<usize>) -> Result<Slice, Error> {
        let (chunk, first) = self.layout.find(flat)?;
        Ok(Slice { first, len: flat.len(), ..self.allocation.chunks[chunk].gradient })
    }

    /// The first elements of a scratch buffer, which grows to hold them.
    fn scratch(&mut self, scratch: Scratch, len: usize) -> Slice {
        self.allocation.scratch(scratch, len)
    }

    /// The buffers that hold a batch.
    fn inputs(&self) -> Inputs {
        self.allocation.inputs
    }

    /// Rows of a kind in the largest run.
    fn most_rows(&self, rows: Rows) -> usize {
        self.capacity.rows(rows)
    }

    /// How often to split a sum over rows that is worth `groups` workgroups and `len` elements.
    fn splits(&self, rows: Rows, groups: usize, len: usize) -> usize {
        let for_groups = self.choices.groups().div_ceil(groups);
        let for_rows = self.most_rows(rows).div_ceil(SPLIT_ROWS);
        for_groups.min(for_rows).min(MAX_PARTIAL / len).max(1)
    }

    /// `y += Σ_rows term(row)`, the kernel saying what is summed: see `row_sum.wgsl`.
    fn sum_rows(&mut self, kernel: Kernel, rows: Rows, y: Slice) -> Result<(), Error> {
        let blocks = y.len.div_ceil(SUM_COLUMNS);
        let splits = self.splits(rows, blocks, y.len);
        let to = if splits > 1 { self.scratch(Scratch::Partial, splits * y.len) } else { y };
        let kernel = kernel
            .with(shader::ROW_SUM)
            .set("ROWS", per_position(rows)?)
            .set("WIDTH", y.len)
            .set("SPLITS", splits)
            .write("y", to);
        self.push(kernel, Grid::Items(Count::Fixed(blocks * splits), 1));
        if splits > 1 {
            self.reduce(to, y, splits);
        }
        Ok(())
    }

    /// `y += Σ_splits partial[split]`.
    fn reduce(&mut self, partial: Slice, y: Slice, splits: usize) {
        let kernel = Kernel::new(shader::REDUCE).set("LEN", y.len).set("SPLITS", splits);
        let grid = Grid::Items(Count::Fixed(y.len), ELEMENTS);
        self.push(kernel.read("x", partial).write("y", y), grid);
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
