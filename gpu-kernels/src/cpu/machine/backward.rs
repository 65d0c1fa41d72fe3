//! The backward pass: the operations in reverse.
use std::{mem::take, ops::Range};

use super::{
    super::{
        chunk::Chunk,
        gemm::Old,
        matrix::Grad,
        ops::{
            attention, conv, embed, linear,
            loss::{self, Sums},
            norm, pointwise, policy, pool, scan, swiglu,
        },
    },
    Machine,
};
use crate::program::{Op, Param, View};

/// The gradient of the parameters, as the backward pass fills it.
#[derive(Debug)]
pub struct ParameterGradient<'a> {
    /// In the order of the parameters.
    pub data: &'a mut [f32],
    /// Whether what is there is to be forgotten.
    pub fresh: bool,
}

impl ParameterGradient<'_> {
    /// The gradients of some parameters, to add to.
    fn of<const N: usize>(&mut self, params: [Param; N]) -> [&mut [f32]; N] {
        let parts = self.data.get_disjoint_mut(params.map(Param::range));
        let parts = parts.expect("parameters lie side by side");
        if self.fresh {
            parts.map(|part| {
                part.fill(0.0);
                part
            })
        } else {
            parts
        }
    }

    /// The gradient of a matrix, and whether to add to it.
    fn matrix(&mut self, range: Range<usize>) -> (&mut [f32], Old) {
        (&mut self.data[range], if self.fresh { Old::Drop } else { Old::Keep })
    }
}

impl Machine {
    /// Adds the chunk's losses and writes the gradients of logits and values.
    pub fn loss(&mut self, chunk: &Chunk<'_>, value_weight: f32, sums: &mut Sums) {
        let (logits, values) = self.program.outputs().expect("a network has a loss");
        self.back([logits, values], |m, [dlogits, dvalues], _| {
            let gradients = (dlogits.data, dvalues.data);
            loss::forward_backward(
                chunk,
                m.view(logits),
                m.view(values),
                value_weight,
                gradients,
                sums,
            );
        });
    }

    /// Runs all operations in reverse, from the gradients of the outputs.
    pub fn backward(
        &mut self,
        chunk: &Chunk<'_>,
        parameters: &[f32],
        gradient: &mut ParameterGradient<'_>,
    ) {
        for i in (0..self.program.ops.len()).rev() {
            self.backward_op(self.program.ops[i], chunk, parameters, gradient);
        }
    }

    /// Runs `compute` with the memory of the views' gradients in hand and the rest to read, and
    /// scratch memory.
    fn back<const N: usize>(
        &mut self,
        views: [View; N],
        compute: impl FnOnce(&Machine, [Grad<'_>; N], &mut Vec<f32>),
    ) {
        let slots = views.map(|view| self.slot(view.buffer));
        let mut data = slots.map(|slot| take(&mut self.gradients[slot]));
        let mut scratch = take(&mut self.scratch);
        let mut memory = data.iter_mut().zip(views);
        let gradients = std::array::from_fn(|_| {
            let (data, view) = memory.next().expect("one for each view");
            let width = self.program.info(view.buffer).width;
            Grad::new(&mut data[..self.len(view.buffer)], width, view)
        });
        compute(self, gradients, &mut scratch);
        self.scratch = scratch;
        for (data, slot) in data.into_iter().zip(slots) {
            self.gradients[slot] = data;
        }
    }

    fn backward_op(
        &mut self,
        op: Op,
        chunk: &Chunk<'_>,
        parameters: &[f32],
        gradient: &mut ParameterGradient<'_>,
    ) {
        let of = |param: Param| &parameters[param.range()];
        match op {
            Op::Embed { output, piece, square, aux } => self.back([], |m, [], scratch| {
                let [piece, square, aux] = gradient.of([piece, square, aux]);
                let tables = embed::Tables { piece, square, aux };
                embed::backward(chunk, m.gradient(output), tables, scratch);
            }),
            Op::RmsNorm { input, output, weight } => self.back([input], |m, [dx], scratch| {
                let [dweight] = gradient.of([weight]);
                let (x, dy) = (m.view(input), m.gradient(output));
                norm::backward(x, of(weight), dy, dx, dweight, scratch);
            }),
            Op::Linear { input, output, weight, bias, residual: _ } => {
                self.back([input], |m, [dx], scratch| {
                    let (x, dy) = (m.view(input), m.gradient(output));
                    linear::backward_input(&parameters[weight.range()], dy, dx);
                    let (dweight, old) = gradient.matrix(weight.range());
                    linear::backward_weight(x, dy, dweight, old);
                    if let Some(bias) = bias {
                        let [dbias] = gradient.of([bias]);
                        linear::backward_bias(dy, dbias, scratch);
                    }
                });
            }
            Op::Attention { qkv, output, log_sum, heads, over, bias } => {
                self.back([qkv], |m, [dqkv], scratch| {
                    let attention = m.attention(heads, over, bias.map(of));
                    let dbias = bias.map(|bias| {
                        let [dbias] = gradient.of([bias]);
                        dbias
                    });
                    let (x, sums, dy) = (m.view(qkv), m.activation(log_sum), m.gradient(output));
                    attention::backward(attention, x, sums, dy, dqkv, dbias, scratch);
                });
            }
            Op::SwiGlu { input, output } => self.back([input], |m, [dx], _| {
                swiglu::backward(m.view(input), m.gradient(output), dx);
            }),
            Op::Pool { input, output } => {
                self.back([input], |m, [dx], _| pool::backward(m.gradient(output), dx));
            }
            Op::AddContext { squares: _, context, output } => {
                self.back([context], |m, [dc], _| pool::context_backward(m.gradient(output), dc));
            }
            Op::Conv { input, output, weight, bias, taps } => {
                self.back([input], |m, [dx], scratch| {
                    let [dweight, dbias] = gradient.of([weight, bias]);
                    let conv = m.conv(of(weight), of(bias), taps);
                    let (x, dy) = (m.view(input), m.gradient(output));
                    conv::backward(conv, x, dy, dx, (dweight, dbias), scratch);
                });
            }
            Op::Scan { u, step, bc, z, output, decay_log, skip, states: _ } => {
                let views = [u, step, bc, z];
                self.back(views, |m, [u, step, bc, z], scratch| {
                    let scan = m.scan(views, of(decay_log), of(skip));
                    let [decay_log, skip] = gradient.of([decay_log, skip]);
                    let gradients = scan::Gradients { u, step, bc, z, decay_log, skip };
                    scan::backward(scan, m.gradient(output), gradients, scratch);
                });
            }
            Op::Pointwise { function, input, output } => self.back([input], |m, [dx], _| {
                pointwise::backward(function, m.view(input), m.gradient(output), dx);
            }),
            Op::LegalLinear { input, output, weight, bias } => self.back([input], |m, [dx], _| {
                let matrix = Param { offset: weight.offset, len: weight.range().len() };
                let [dweight, dbias] = gradient.of([matrix, bias]);
                let (x, dy) = (m.view(input), m.gradient(output));
                let weight = &parameters[weight.range()];
                policy::pooled_backward(chunk, x, weight, dy, dx, (dweight, dbias));
            }),
            Op::FromTo { from, to, promotion, output } => {
                let x = [from, to, promotion];
                self.back(x, |m, [dfrom, dto, dpromotion], _| {
                    let x = m.squares(from, to, promotion);
                    let gradients = policy::Squares { from: dfrom, to: dto, promotion: dpromotion };
                    policy::pairs_backward(chunk, x, m.gradient(output), gradients);
                });
            }
            Op::Loss { .. } => {}
        }
    }
}
