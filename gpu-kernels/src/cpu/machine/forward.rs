//! The forward pass.
use super::{
    super::{
        chunk::Chunk,
        ops::{attention, conv, embed, linear, norm, pointwise, policy, pool, scan, swiglu},
    },
    Machine,
};
use crate::program::{Op, Param};

impl Machine {
    /// Runs all operations but the loss.
    pub fn forward(&mut self, chunk: &Chunk<'_>, parameters: &[f32]) {
        self.resize(chunk.sizes);
        for i in 0..self.program.ops.len() {
            self.forward_op(self.program.ops[i], chunk, parameters);
        }
    }

    fn forward_op(&mut self, op: Op, chunk: &Chunk<'_>, parameters: &[f32]) {
        let of = |param: Param| &parameters[param.range()];
        match op {
            Op::Embed { output, piece, square, aux } => self.write(output, |_, y, _| {
                let tables = embed::Tables { piece: of(piece), square: of(square), aux: of(aux) };
                embed::forward(chunk, tables, y);
            }),
            Op::RmsNorm { input, output, weight } => {
                self.write(output, |m, y, _| norm::forward(m.view(input), of(weight), y));
            }
            Op::Linear { input, output, weight, bias, residual } => {
                self.write(output, |m, y, scratch| {
                    let bias = bias.map(of);
                    let addend = match (residual, bias) {
                        (Some(r), bias) => linear::Addend::Residual(m.activation(r), bias),
                        (None, Some(bias)) => linear::Addend::Bias(bias),
                        (None, None) => linear::Addend::Zero,
                    };
                    let weight = &parameters[weight.range()];
                    linear::forward(m.view(input), weight, addend, y, scratch);
                });
            }
            Op::Attention { qkv, output, log_sum, heads, over, bias } => {
                let attention = self.attention(heads, over, bias.map(of));
                let mut sums = self.take(log_sum);
                let len = self.len(log_sum);
                self.write(output, |m, y, scratch| {
                    attention::forward(attention, m.view(qkv), y, &mut sums[..len], scratch);
                });
                self.put(log_sum, sums);
            }
            Op::SwiGlu { input, output } => {
                self.write(output, |m, y, _| swiglu::forward(m.view(input), y));
            }
            Op::Pool { input, output } => {
                self.write(output, |m, y, _| pool::forward(m.view(input), y));
            }
            Op::AddContext { squares, context, output } => self.write(output, |m, y, _| {
                pool::context_forward(m.activation(squares), m.view(context), y);
            }),
            Op::Conv { input, output, weight, bias, taps } => self.write(output, |m, y, _| {
                conv::forward(m.conv(of(weight), of(bias), taps), m.view(input), y);
            }),
            Op::Scan { u, step, bc, z, output, decay_log, skip, states: _ } => {
                self.write(output, |m, y, scratch| {
                    let scan = m.scan([u, step, bc, z], of(decay_log), of(skip));
                    scan::forward(scan, y, scratch);
                });
            }
            Op::Pointwise { function, input, output } => {
                self.write(output, |m, y, _| pointwise::forward(function, m.view(input), y));
            }
            Op::LegalLinear { input, output, weight, bias } => self.write(output, |m, y, _| {
                policy::pooled_forward(
                    chunk,
                    m.view(input),
                    &parameters[weight.range()],
                    of(bias),
                    y,
                );
            }),
            Op::FromTo { from, to, promotion, output } => self.write(output, |m, y, _| {
                policy::pairs_forward(chunk, m.squares(from, to, promotion), y);
            }),
            Op::Loss { .. } => {}
        }
    }
}
