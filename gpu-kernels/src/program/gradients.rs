//! Which gradients overwrite and which add, and where each is kept.
use super::{Buffer, Op, Program, Slot, View};

impl Op {
    /// The views it reads.
    pub fn inputs(&self) -> Vec<View> {
        let mut op = *self;
        op.inputs_mut().into_iter().map(|view| *view).collect()
    }

    /// The buffer it writes, with a gradient; the loss has none.
    pub const fn output(&self) -> Option<Buffer> {
        match *self {
            Op::Embed { output, .. }
            | Op::RmsNorm { output, .. }
            | Op::Linear { output, .. }
            | Op::Attention { output, .. }
            | Op::SwiGlu { output, .. }
            | Op::Pool { output, .. }
            | Op::AddContext { output, .. }
            | Op::Conv { output, .. }
            | Op::Scan { output, .. }
            | Op::Pointwise { output, .. }
            | Op::LegalLinear { output, .. }
            | Op::FromTo { output, .. } => Some(output),
            Op::Loss { .. } => None,
        }
    }

    /// The buffer whose gradient is the output's.
    pub const fn passes_gradient_to(&self) -> Option<Buffer> {
        match *self {
            Op::Linear { residual, .. } => residual,
            Op::AddContext { squares, .. } => Some(squares),
            _ => None,
        }
    }

    fn inputs_mut(&mut self) -> Vec<&mut View> {
        match self {
            Op::Embed { .. } => vec![],
            Op::RmsNorm { input, .. }
            | Op::Linear { input, .. }
            | Op::SwiGlu { input, .. }
            | Op::Pool { input, .. }
            | Op::Conv { input, .. }
            | Op::Pointwise { input, .. }
            | Op::LegalLinear { input, .. } => vec![input],
            Op::Attention { qkv, .. } => vec![qkv],
            Op::AddContext { context, .. } => vec![context],
            Op::Scan { u, step, bc, z, .. } => vec![u, step, bc, z],
            Op::FromTo { from, to, promotion, .. } => vec![from, to, promotion],
            Op::Loss { logits, values } => vec![logits, values],
        }
    }
}

/// Walks the operations in the order of the backward pass.
pub(super) fn plan(mut program: Program) -> Program {
    let mut ops = std::mem::take(&mut program.ops);
    let mut written: Vec<Vec<View>> = vec![vec![]; program.buffers.len()];
    let mut free = Vec::new();
    for output in unread(&ops) {
        // Its gradient comes from outside, before the backward pass.
        program.buffers[output.0].slot = Some(take(&mut program, &mut free, output));
        let (column, width) = (0, program.buffers[output.0].width);
        written[output.0] = vec![View { buffer: output, column, width, accumulate: false }];
    }
    for op in ops.iter_mut().rev() {
        if let (Some(from), Some(to)) = (op.output(), op.passes_gradient_to()) {
            assert!(written[to.0].is_empty(), "a residual's other reader comes later");
            program.buffers[to.0].slot = program.buffers[from.0].slot;
            written[to.0] = written[from.0].clone();
        }
        for view in op.inputs_mut() {
            let before = &mut written[view.buffer.0];
            view.accumulate = before.iter().any(|other| overlap(view, other));
            before.push(*view);
            if program.buffers[view.buffer.0].slot.is_none() {
                let slot = take(&mut program, &mut free, view.buffer);
                program.buffers[view.buffer.0].slot = Some(slot);
            }
        }
        if let (Some(output), None) = (op.output(), op.passes_gradient_to()) {
            free.extend(program.buffers[output.0].slot);
        }
    }
    program.ops = ops;
    program
}

/// Outputs that no operation reads.
fn unread(ops: &[Op]) -> Vec<Buffer> {
    let read = |buffer: &Buffer| {
        ops.iter().any(|op| {
            op.passes_gradient_to() == Some(*buffer)
                || op.inputs().iter().any(|view| view.buffer == *buffer)
        })
    };
    ops.iter().filter_map(Op::output).filter(|buffer| !read(buffer)).collect()
}

fn overlap(a: &View, b: &View) -> bool {
    a.column < b.column + b.width && b.column < a.column + a.width
}

/// The narrowest free slot that is wide enough, or a new one.
fn take(program: &mut Program, free: &mut Vec<usize>, buffer: Buffer) -> usize {
    let info = program.buffers[buffer.0];
    let fits = |&i: &usize| {
        let slot = program.slots[i];
        slot.rows == info.rows && slot.width >= info.width
    };
    let best = free.iter().copied().filter(fits).min_by_key(|&i| program.slots[i].width);
    if let Some(slot) = best {
        free.retain(|&i| i != slot);
        return slot;
    }
    program.slots.push(Slot { rows: info.rows, width: info.width });
    program.slots.len() - 1
}
