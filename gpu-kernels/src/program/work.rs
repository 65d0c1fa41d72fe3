//! How much arithmetic operations are.
use kibitzer_core::inputs::{AUX, SQUARES};

use super::{Op, Over, Program, Rows, Sizes};

impl Program {
    /// Elements that an operation puts out.
    pub fn output_len(&self, op: &Op, sizes: Sizes) -> usize {
        op.output().map_or(0, |buffer| {
            let info = self.info(buffer);
            sizes.rows(info.rows) * info.width
        })
    }

    /// Arithmetic operations of an operation's forward pass, about: a multiply-add is two.
    pub fn flops(&self, op: &Op, sizes: Sizes) -> usize {
        let output = self.output_len(op, sizes);
        let squares = sizes.rows(Rows::Square);
        match *op {
            Op::Embed { .. } => {
                output * 2 + sizes.positions() * AUX * 2 * (output / squares.max(1))
            }
            Op::RmsNorm { .. } => 4 * output,
            Op::Linear { weight, .. } => 2 * weight.inputs * output,
            Op::Attention { over: Over::Squares, .. } => 4 * SQUARES * output,
            Op::Attention { over: Over::Sequence, .. } => 2 * (sizes.length + 1) * output,
            Op::SwiGlu { .. } | Op::Pointwise { .. } => 8 * output,
            Op::Pool { .. } => SQUARES * output,
            Op::AddContext { .. } => output,
            Op::Conv { taps, .. } => 2 * taps * output,
            Op::Scan { states, .. } => 8 * states * output,
            Op::LegalLinear { weight, .. } => 2 * weight.inputs * output,
            Op::FromTo { from, .. } => 2 * from.width * output,
            Op::Loss { .. } => 8 * self.outputs().map_or(0, |_| sizes.legal),
        }
    }
}
