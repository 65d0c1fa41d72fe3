//! The forward and the backward pass of every operation.
use super::Lowering;
use crate::{Error, gpu::shader, program::Op};

impl Lowering<'_> {
    /// Appends the dispatches of an operation's forward pass.
    pub(super) fn forward(&mut self, op: &Op) -> Result<(), Error> {
        match *op {
            Op::Embed { output, piece, square, aux } => self.embed(output, piece, square, aux),
            Op::RmsNorm { input, output, weight } => self.rms_norm(input, output, weight),
            Op::Linear { input, output, weight, bias, residual } => {
                self.linear(input, output, weight, bias, residual)
            }
            Op::Attention { .. } => self.attention(op),
            Op::SwiGlu { input, output } => self.mapped(shader::SWIGLU, None, input, output),
            Op::Pool { input, output } => self.pool(input, output),
            Op::AddContext { squares, context, output } => {
                self.add_context(squares, context, output)
            }
            Op::Conv { input, output, weight, bias, taps } => {
                self.conv(input, output, weight, bias, taps)
            }
            Op::Scan { z, output, .. } => self.scan(op, z, output),
            Op::Pointwise { function, input, output } => {
                self.mapped(shader::POINTWISE, Some(function), input, output)
            }
            Op::LegalLinear { input, output, weight, bias } => {
                self.legal_linear(input, output, weight, bias)
            }
            Op::FromTo { from, to, promotion, output } => {
                self.square_pairs((from, to, promotion), output)
            }
            // The loss and its gradient are one kernel, in the backward pass.
            Op::Loss { .. } => Ok(()),
        }
    }

    /// Appends the dispatches of an operation's backward pass: the gradients of its inputs, then
    /// those of its parameters.
    pub(super) fn backward(&mut self, op: &Op) -> Result<(), Error> {
        match *op {
            Op::Embed { output, piece, square, aux } => self.embed_grad(output, piece, square, aux),
            Op::RmsNorm { input, output, weight } => self.rms_norm_grad(input, output, weight),
            Op::Linear { input, output, weight, bias, .. } => {
                self.linear_grad(input, output, weight, bias)
            }
            Op::Attention { .. } => self.attention_grad(op),
            Op::SwiGlu { input, output } => {
                self.mapped_grad(shader::SWIGLU_GRAD, None, input, output)
            }
            Op::Pool { input, output } => self.pool_grad(input, output),
            Op::AddContext { context, output, .. } => self.add_context_grad(context, output),
            Op::Conv { input, output, weight, bias, taps } => {
                self.conv_grad(input, output, weight, bias, taps)
            }
            Op::Scan { .. } => self.scan_grad(op),
            Op::Pointwise { function, input, output } => {
                self.mapped_grad(shader::POINTWISE_GRAD, Some(function), input, output)
            }
            Op::LegalLinear { input, output, weight, bias } => {
                self.legal_linear_grad(input, output, weight, bias)
            }
            Op::FromTo { from, to, promotion, output } => {
                self.side_grad(from, to, true, output)?;
                self.side_grad(to, from, false, output)?;
                self.promotion_grad(promotion, output)
            }
            Op::Loss { logits, values } => self.loss(logits, values),
        }
    }
}
