//! Small programs, one or a few operations each, with random contents.
use kibitzer_core::{inputs::SQUARES, moves::MOVES};
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use crate::{
    Batch, Probe, pairs,
    program::{
        Buffer, Builder, Matrix, Op, Over, Param, Pointwise, Program, Rows, Signal, Sizes, View,
    },
};

/// A program with all that it reads.
#[derive(Debug, Clone)]
pub struct Case {
    /// What it tries.
    pub name: String,
    /// The program.
    pub program: Program,
    /// Sizes, and contents for those operations that read the batch.
    pub batch: Batch,
    /// Its parameters.
    pub parameters: Vec<f32>,
    /// Contents of the buffers that no operation writes.
    pub inputs: Vec<(Buffer, Vec<f32>)>,
    /// Gradients of the buffers that no operation reads.
    pub output_gradients: Vec<(Buffer, Vec<f32>)>,
}

impl Case {
    /// The probe, with these inputs and parameters.
    pub fn probe<'a>(
        &'a self,
        inputs: &'a [(Buffer, &'a [f32])],
        output_gradients: &'a [(Buffer, &'a [f32])],
        parameters: &'a [f32],
    ) -> Probe<'a> {
        Probe {
            program: &self.program,
            batch: &self.batch,
            parameters,
            inputs,
            output_gradients,
            value_weight: 0.25,
        }
    }
}

/// A program under construction, and the parameters that it has used so far.
#[derive(Default)]
struct Draft {
    builder: Builder,
    parameters: usize,
    inputs: Vec<Buffer>,
}

impl Draft {
    fn input(&mut self, rows: Rows, width: usize) -> Buffer {
        let buffer = self.builder.buffer(Signal::Output, rows, width);
        self.inputs.push(buffer);
        buffer
    }

    fn output(&mut self, rows: Rows, width: usize) -> Buffer {
        self.builder.buffer(Signal::Output, rows, width)
    }

    fn all(&self, buffer: Buffer) -> View {
        self.builder.all(buffer)
    }

    fn param(&mut self, len: usize) -> Param {
        let offset = self.parameters;
        self.parameters += len;
        Param { offset, len }
    }

    fn matrix(&mut self, outputs: usize, inputs: usize) -> Matrix {
        let Param { offset, .. } = self.param(outputs * inputs);
        Matrix { offset, outputs, inputs }
    }

    fn linear(&mut self, input: View, rows: Rows, outputs: usize) -> Buffer {
        let output = self.output(rows, outputs);
        let weight = self.matrix(outputs, input.width);
        self.builder.push(Op::Linear { input, output, weight, bias: None, residual: None });
        output
    }

    fn finish(self, name: &str, batch: Batch) -> Case {
        let name = format!("{name}, length {}", batch.length);
        let mut rng = ChaCha8Rng::seed_from_u64(name.len() as u64);
        let inputs = self.inputs.clone();
        let parameters = self.parameters;
        let program = self.builder.finish(parameters);
        let sizes =
            Sizes { sequences: batch.sequences, length: batch.length, legal: batch.legal.len() };
        let mut random = |buffer: Buffer| {
            let info = program.info(buffer);
            let len = sizes.rows(info.rows) * info.width;
            (buffer, (0..len).map(|_| rng.random_range(-1.5..1.5)).collect::<Vec<f32>>())
        };
        let inputs: Vec<_> = inputs.into_iter().map(&mut random).collect();
        let read: Vec<usize> =
            program.ops.iter().flat_map(Op::inputs).map(|view| view.buffer.index()).collect();
        let passed: Vec<usize> =
            program.ops.iter().filter_map(Op::passes_gradient_to).map(Buffer::index).collect();
        let outputs = program.ops.iter().filter_map(Op::output);
        let unread = |b: &Buffer| !read.contains(&b.index()) && !passed.contains(&b.index());
        let output_gradients = outputs.filter(unread).map(&mut random).collect();
        Case {
            name,
            parameters: (0..parameters).map(|_| rng.random_range(-1.0..1.0)).collect(),
            batch,
            inputs,
            output_gradients,
            program,
        }
    }
}

/// Random tokens, scalars, legal entries and targets.
pub fn batch(sequences: usize, length: usize, seed: u64) -> Batch {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let n = sequences * length;
    let mut batch = Batch {
        sequences,
        length,
        tokens: (0..n * SQUARES).map(|_| rng.random_range(0..13)).collect(),
        aux: (0..n * 7).map(|_| rng.random_range(-1.0..1.0)).collect(),
        legal_offsets: vec![0],
        target_value: (0..n).map(|_| rng.random_range(-1.0..1.0)).collect(),
        ..Batch::default()
    };
    for position in 0..n {
        // From one entry upwards, so that a group of threads has stragglers.
        let count = 1 + (position * 7) % 31;
        let mut moves: Vec<u16> = (0..MOVES as u16)
            .filter(|&m| pairs()[usize::from(m)].is_some())
            .filter(|_| rng.random_bool(0.1))
            .take(count)
            .collect();
        if position == 0 {
            // An underpromotion from a7 and one from h2.
            moves = vec![48 * 73 + 65, 15 * 73 + 71];
        }
        let weights: Vec<f32> = moves.iter().map(|_| rng.random_range(0.1..1.0)).collect();
        let total: f32 = weights.iter().sum();
        batch.target_policy.extend(weights.iter().map(|w| w / total));
        batch.legal.extend(moves);
        batch.legal_offsets.push(batch.legal.len() as u32);
    }
    batch
}

/// Every operation in sequences of these lengths, with whole buffers and with columns of wider
/// ones, with gradients that are overwritten and gradients that are added to. Those that do not
/// look along a sequence are tried at the first two lengths.
pub fn all(lengths: &[usize]) -> Vec<Case> {
    let mut cases = vec![];
    for &length in lengths.iter().take(2) {
        cases.extend([
            embed(length),
            norm(length),
            linear(length),
            fused_linear(length),
            swiglu(length),
            pool(length),
            context(length),
            attention(Over::Squares, true, length),
            attention(Over::Squares, false, length),
            pointwise(Pointwise::Gelu, length),
            pointwise(Pointwise::Tanh, length),
            pooled_policy(length),
            from_to(length),
            loss(length),
        ]);
    }
    for &length in lengths {
        cases.extend([attention(Over::Sequence, false, length), conv(length), scan(length)]);
    }
    cases
}

fn embed(length: usize) -> Case {
    let mut d = Draft::default();
    let output = d.output(Rows::Square, 12);
    let (piece, square, aux) = (d.param(13 * 12), d.param(64 * 12), d.param(12 * 7));
    d.builder.push(Op::Embed { output, piece, square, aux });
    d.finish("embed", batch(3, length, 1))
}

fn norm(length: usize) -> Case {
    let mut d = Draft::default();
    let input = d.input(Rows::Square, 20);
    let output = d.output(Rows::Square, 20);
    let weight = d.param(20);
    d.builder.push(Op::RmsNorm { input: d.all(input), output, weight });
    d.finish("norm", batch(2, length, 2))
}

/// Bias, residual, and an input that two operations read.
fn linear(length: usize) -> Case {
    let mut d = Draft::default();
    let input = d.input(Rows::Position, 18);
    let residual = d.input(Rows::Position, 10);
    let output = d.output(Rows::Position, 10);
    let (weight, bias) = (d.matrix(10, 18), d.param(10));
    d.builder.push(Op::Linear {
        input: d.all(input),
        output,
        weight,
        bias: Some(bias),
        residual: Some(residual),
    });
    let other = d.builder.columns(input, 5, 9);
    d.linear(other, Rows::Position, 7);
    d.finish("linear", batch(5, length, 3))
}

/// A block as in the network: the residual's stream is read by a norm before it is added to.
fn fused_linear(length: usize) -> Case {
    let mut d = Draft::default();
    let stream = d.input(Rows::Square, 8);
    let normed = d.output(Rows::Square, 8);
    let weight = d.param(8);
    d.builder.push(Op::RmsNorm { input: d.all(stream), output: normed, weight });
    let hidden = d.linear(d.all(normed), Rows::Square, 6);
    let output = d.output(Rows::Square, 8);
    let weight = d.matrix(8, 6);
    let (input, residual) = (d.all(hidden), Some(stream));
    d.builder.push(Op::Linear { input, output, weight, bias: None, residual });
    d.finish("block", batch(1, length, 4))
}

/// Matrix products of all classes: rows by square and by position, bias, residual, columns of a
/// wider buffer.
pub fn products(positions: usize, inputs: usize, outputs: usize) -> Case {
    let mut d = Draft::default();
    let wide = d.input(Rows::Square, inputs + 4);
    let squares = d.builder.columns(wide, 4, inputs);
    d.linear(squares, Rows::Square, outputs);
    let input = d.input(Rows::Position, inputs);
    let residual = d.input(Rows::Position, outputs);
    let output = d.output(Rows::Position, outputs);
    let (weight, bias) = (d.matrix(outputs, inputs), d.param(outputs));
    let (input, bias, residual) = (d.all(input), Some(bias), Some(residual));
    d.builder.push(Op::Linear { input, output, weight, bias, residual });
    let name = format!("products of {positions} positions, {inputs} by {outputs}");
    d.finish(&name, batch(positions, 1, 15))
}

/// One layer of so many inputs as outputs.
pub fn layer(rows: Rows, positions: usize, width: usize) -> Case {
    let mut d = Draft::default();
    let input = d.input(rows, width);
    d.linear(d.all(input), rows, width);
    d.finish("layer", batch(positions, 1, 16))
}

fn swiglu(length: usize) -> Case {
    let mut d = Draft::default();
    let input = d.input(Rows::Square, 22);
    let output = d.output(Rows::Square, 11);
    d.builder.push(Op::SwiGlu { input: d.all(input), output });
    d.finish("swiglu", batch(2, length, 5))
}

fn pool(length: usize) -> Case {
    let mut d = Draft::default();
    let input = d.input(Rows::Square, 9);
    let output = d.output(Rows::Position, 9);
    d.builder.push(Op::Pool { input: d.all(input), output });
    d.finish("pool", batch(3, length, 6))
}

fn context(length: usize) -> Case {
    let mut d = Draft::default();
    let squares = d.input(Rows::Square, 9);
    let context = d.input(Rows::Position, 9);
    let output = d.output(Rows::Square, 9);
    d.builder.push(Op::AddContext { squares, context: d.all(context), output });
    d.finish("context", batch(3, length, 7))
}

fn attention(over: Over, bias: bool, length: usize) -> Case {
    let mut d = Draft::default();
    let rows = if over == Over::Squares { Rows::Square } else { Rows::Position };
    let qkv = d.input(rows, 36);
    let output = d.output(rows, 12);
    let log_sum = d.output(rows, 3);
    let bias = bias.then(|| d.param(3 * 64 * 64));
    d.builder.push(Op::Attention { qkv: d.all(qkv), output, log_sum, heads: 3, over, bias });
    let name = format!("attention over {over:?}, bias {}", bias.is_some());
    d.finish(&name, batch(2, length, 8))
}

fn pointwise(function: Pointwise, length: usize) -> Case {
    let mut d = Draft::default();
    let input = d.input(Rows::Position, 9);
    let output = d.output(Rows::Position, 9);
    d.builder.push(Op::Pointwise { function, input: d.all(input), output });
    d.finish(&format!("{function:?}"), batch(5, length, 9))
}

/// Reads the left half of a wider buffer, as in the network.
fn conv(length: usize) -> Case {
    let mut d = Draft::default();
    let input = d.input(Rows::Position, 20);
    let output = d.output(Rows::Position, 10);
    let (weight, bias) = (d.param(10 * 4), d.param(10));
    let left = d.builder.columns(input, 0, 10);
    d.builder.push(Op::Conv { input: left, output, weight, bias, taps: 4 });
    let right = d.builder.columns(input, 10, 10);
    let other = d.output(Rows::Position, 10);
    let function = Pointwise::Tanh;
    d.builder.push(Op::Pointwise { function, input: right, output: other });
    d.finish("convolution", batch(3, length, 10))
}

/// Step, B and C come from columns of one buffer, z from the right half of another.
fn scan(length: usize) -> Case {
    let (width, states, rank) = (10, 6, 3);
    let mut d = Draft::default();
    let u = d.input(Rows::Position, width);
    let in_proj = d.input(Rows::Position, 2 * width);
    let x_proj = d.input(Rows::Position, rank + 2 * states);
    let low = d.builder.columns(x_proj, 0, rank);
    let step = d.linear(low, Rows::Position, width);
    let output = d.output(Rows::Position, width);
    let (decay_log, skip) = (d.param(width * states), d.param(width));
    let op = Op::Scan {
        u: d.all(u),
        step: d.all(step),
        bc: d.builder.columns(x_proj, rank, 2 * states),
        z: d.builder.columns(in_proj, width, width),
        output,
        decay_log,
        skip,
        states,
    };
    d.builder.push(op);
    let left = d.builder.columns(in_proj, 0, width);
    d.linear(left, Rows::Position, 4);
    d.finish("scan", batch(3, length, 11))
}

fn pooled_policy(length: usize) -> Case {
    let mut d = Draft::default();
    let input = d.input(Rows::Position, 5);
    let output = d.output(Rows::Legal, 1);
    let (weight, bias) = (d.matrix(MOVES, 5), d.param(MOVES));
    d.builder.push(Op::LegalLinear { input: d.all(input), output, weight, bias });
    d.finish("pooled policy", batch(4, length, 12))
}

fn from_to(length: usize) -> Case {
    let mut d = Draft::default();
    let from = d.input(Rows::Square, 5);
    let to = d.input(Rows::Square, 5);
    let promotion = d.input(Rows::Square, 9);
    let output = d.output(Rows::Legal, 1);
    let (from, to, promotion) = (d.all(from), d.all(to), d.all(promotion));
    d.builder.push(Op::FromTo { from, to, promotion, output });
    d.finish("from_to policy", batch(4, length, 13))
}

fn loss(length: usize) -> Case {
    let mut d = Draft::default();
    let logits = d.input(Rows::Legal, 1);
    let values = d.input(Rows::Position, 1);
    let (logits, values) = (d.all(logits), d.all(values));
    d.builder.push(Op::Loss { logits, values });
    d.finish("loss", batch(4, length, 14))
}
