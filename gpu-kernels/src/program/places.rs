//! Where activations may lie when the forward pass is all that runs.
use super::{Buffer, Op, Program, Rows};

impl Program {
    /// A place for each buffer: those that the forward pass never needs at the same time share
    /// one, if their rows are of the same kind. What the loss reads keeps its place to the end.
    pub fn places(&self) -> Vec<usize> {
        let mut places = Places { program: self, widths: vec![], free: vec![] };
        let mut of: Vec<Option<usize>> = vec![None; self.buffers.len()];
        for (i, op) in self.ops.iter().enumerate() {
            for buffer in op.outputs() {
                of[buffer.index()] = Some(places.take(buffer));
            }
            for buffer in self.read_last_by(i, op) {
                places.free.extend(of[buffer.index()]);
            }
        }
        // What no operation writes comes from outside, and may be there from the start.
        let given = self.all_buffers().zip(of);
        given.map(|(buffer, place)| place.unwrap_or_else(|| places.add(buffer))).collect()
    }

    /// The buffers that no operation reads after this one.
    fn read_last_by(&self, i: usize, op: &Op) -> Vec<Buffer> {
        let mut last = op.reads();
        last.extend(op.outputs());
        last.sort_unstable_by_key(|buffer| buffer.index());
        last.dedup();
        let later =
            |buffer: &Buffer| self.ops[i + 1..].iter().any(|op| op.reads().contains(buffer));
        let kept = self.outputs().map(|(logits, values)| [logits.buffer, values.buffer]);
        last.retain(|buffer| !later(buffer) && !kept.is_some_and(|kept| kept.contains(buffer)));
        last
    }
}

impl Op {
    /// The buffers that the forward pass writes.
    pub fn outputs(&self) -> Vec<Buffer> {
        let besides = match self {
            Op::Attention { log_sum, .. } => Some(*log_sum),
            _ => None,
        };
        self.output().into_iter().chain(besides).collect()
    }

    /// The buffers that the forward pass reads.
    pub fn reads(&self) -> Vec<Buffer> {
        let views = self.inputs().into_iter().map(|view| view.buffer);
        views.chain(self.passes_gradient_to()).collect()
    }
}

struct Places<'a> {
    program: &'a Program,
    /// Kind of rows and most columns of each place.
    widths: Vec<(Rows, usize)>,
    free: Vec<usize>,
}

impl Places<'_> {
    fn add(&mut self, buffer: Buffer) -> usize {
        let info = self.program.info(buffer);
        self.widths.push((info.rows, info.width));
        self.widths.len() - 1
    }

    /// The free place that grows least, the narrowest among those that need not grow.
    fn take(&mut self, buffer: Buffer) -> usize {
        let info = *self.program.info(buffer);
        let cost = |&place: &usize| {
            let (rows, width) = self.widths[place];
            (rows == info.rows).then_some((info.width.saturating_sub(width), width))
        };
        let best = self.free.iter().copied().filter_map(|place| Some((cost(&place)?, place))).min();
        let Some((_, place)) = best else { return self.add(buffer) };
        self.free.retain(|&free| free != place);
        let width = &mut self.widths[place].1;
        *width = info.width.max(*width);
        place
    }
}
