//! The forward pass of each operation.
use kibitzer_core::inputs::{AUX, SQUARES};

use super::{Lowering, per_position};
use crate::{
    Error,
    gpu::{
        plan::{Columns, Count, Grid, Kernel, Slice},
        shader,
    },
    program::{Buffer, Matrix, NORM_EPSILON, Op, Over, Param, Pointwise, Rows, View},
};

/// Elements of workgroup memory that a tile of keys and one of values may take: 16 KiB together.
const TILE_ELEMENTS: usize = 2048;

/// A matrix product `c (+)= a b`, [`Lowering::gemm`]'s argument.
pub(super) struct Gemm {
    pub a: (Slice, Columns),
    pub b: (Slice, Columns),
    pub c: (Slice, Columns),
    pub a_transposed: bool,
    pub b_transposed: bool,
    pub adds: bool,
    /// What m and k count, and the columns n.
    pub m: Count,
    pub n: usize,
    pub k: Count,
    pub splits: usize,
}

/// A head of attention over squares, as its kernels see it.
pub(super) struct Heads {
    pub heads: usize,
    pub head: usize,
    pub keys: usize,
}

impl Heads {
    pub fn new(width: usize, heads: usize) -> Result<Heads, Error> {
        let head = width / heads;
        // The largest power of two that workgroup memory holds, up to all 64 squares.
        let keys = [64, 32, 16, 8, 4, 2, 1].into_iter().find(|keys| keys * head <= TILE_ELEMENTS);
        let keys = keys.ok_or_else(|| {
            Error::Device(format!("heads of {head} columns exceed the shaders' {TILE_ELEMENTS}"))
        })?;
        Ok(Heads { heads, head, keys })
    }

    pub fn kernel(&self, source: shader::Source, qkv: Columns) -> Kernel {
        Kernel::new(source)
            .set("HEADS", self.heads)
            .set("HEAD", self.head)
            .set("KEYS", self.keys)
            .set("SCALE", 1.0 / (self.head as f32).sqrt())
            .view("QKV", qkv)
    }
}

/// The scale of the `from_to` policy's scores.
pub(super) fn from_to_scale(width: usize) -> f32 {
    1.0 / (width as f32).sqrt()
}

impl Lowering<'_> {
    /// Appends the dispatches of an operation's forward pass.
    pub(super) fn forward(&mut self, op: &Op) -> Result<(), Error> {
        match *op {
            Op::Embed { output, piece, square, aux } => self.embed(output, piece, square, aux),
            Op::RmsNorm { input, output, weight } => self.rms_norm(input, output, weight),
            Op::Linear { input, output, weight, bias, residual } => {
                self.linear(input, output, weight, bias, residual)
            }
            Op::Attention { qkv, output, log_sum, heads, over: Over::Squares, bias } => {
                self.attention(qkv, output, log_sum, heads, bias)
            }
            Op::Attention { qkv, output, over: Over::Sequence, .. } => {
                let (rows, width) = self.info(output);
                let kernel = Kernel::new(shader::ATTENTION_SINGLE)
                    .view("QKV", self.columns(qkv))
                    .read(self.activation(qkv.buffer))
                    .write(self.activation(output));
                self.elements(kernel, rows, width);
                Ok(())
            }
            Op::SwiGlu { input, output } => self.mapped(shader::SWIGLU, None, input, output),
            Op::Pool { input, output } => {
                let (rows, width) = self.info(output);
                let kernel = Kernel::new(shader::SQUARE_SUM)
                    .set("SQUARES", SQUARES)
                    .set("FACTOR", 1.0 / SQUARES as f32)
                    .set("Y_ADDS", false)
                    .view("X", self.columns(input))
                    .view("Y", Columns::dense(width))
                    .read(self.activation(input.buffer))
                    .write(self.activation(output));
                self.elements(kernel, rows, width);
                Ok(())
            }
            Op::AddContext { squares, context, output } => {
                let (rows, width) = self.info(output);
                let kernel = Kernel::new(shader::ADD_CONTEXT)
                    .set("SQUARES", SQUARES)
                    .view("C", self.columns(context))
                    .read(self.activation(squares))
                    .read(self.activation(context.buffer))
                    .write(self.activation(output));
                self.elements(kernel, rows, width);
                Ok(())
            }
            Op::Conv { input, output, weight, bias, taps } => {
                let (rows, width) = self.info(output);
                let kernel = Kernel::new(shader::CONV_SINGLE)
                    .set("TAPS", taps)
                    .view("X", self.columns(input))
                    .read(self.activation(input.buffer))
                    .read(self.parameter(&weight.range())?)
                    .read(self.parameter(&bias.range())?)
                    .write(self.activation(output));
                self.elements(kernel, rows, width);
                Ok(())
            }
            Op::Scan { output, .. } => {
                let (rows, width) = self.info(output);
                let kernel = self.scan_kernel(shader::SCAN_SINGLE, op)?;
                self.elements(kernel.write(self.activation(output)), rows, width);
                Ok(())
            }
            Op::Pointwise { function, input, output } => {
                self.mapped(shader::POINTWISE, Some(function), input, output)
            }
            Op::LegalLinear { input, output, weight, bias } => {
                let kernel = Kernel::new(shader::LEGAL_LINEAR)
                    .with(shader::ENTRIES)
                    .with(shader::SUM64)
                    .set("WIDTH", weight.inputs)
                    .view("X", self.columns(input))
                    .read(self.inputs.entries)
                    .read(self.activation(input.buffer))
                    .read(self.parameter(&weight.range())?)
                    .read(self.parameter(&bias.range())?)
                    .write(self.activation(output));
                self.push(kernel, Grid::Items(Count::Each(Rows::Legal, 1), 1));
                Ok(())
            }
            Op::FromTo { from, to, promotion, output } => {
                let kernel = Kernel::new(shader::FROM_TO)
                    .with(shader::ENTRIES)
                    .set("SQUARES", SQUARES)
                    .set("WIDTH", from.width)
                    .set("SCALE", from_to_scale(from.width))
                    .view("FROM", self.columns(from))
                    .view("TO", self.columns(to))
                    .view("PROMOTION", self.columns(promotion))
                    .read(self.inputs.entries)
                    .read(self.activation(from.buffer))
                    .read(self.activation(to.buffer))
                    .read(self.activation(promotion.buffer))
                    .write(self.activation(output));
                self.push(kernel, Grid::Items(Count::Each(Rows::Legal, 1), super::ELEMENTS));
                Ok(())
            }
            // The loss and its gradient are one kernel, in the backward pass.
            Op::Loss { .. } => Ok(()),
        }
    }

    fn embed(
        &mut self,
        output: Buffer,
        piece: Param,
        square: Param,
        aux: Param,
    ) -> Result<(), Error> {
        let (rows, width) = self.info(output);
        let kernel = Kernel::new(shader::EMBED)
            .set("SQUARES", SQUARES)
            .set("AUX", AUX)
            .read(self.inputs.tokens)
            .read(self.inputs.scalars)
            .read(self.parameter(&piece.range())?)
            .read(self.parameter(&square.range())?)
            .read(self.parameter(&aux.range())?)
            .write(self.activation(output));
        self.elements(kernel, rows, width);
        Ok(())
    }

    fn rms_norm(&mut self, input: View, output: Buffer, weight: Param) -> Result<(), Error> {
        let (rows, width) = self.info(output);
        let kernel = Kernel::new(shader::RMS_NORM)
            .with(shader::SUM64)
            .set("ROWS", per_position(rows)?)
            .set("WIDTH", width)
            .set("EPSILON", NORM_EPSILON)
            .view("X", self.columns(input))
            .read(self.activation(input.buffer))
            .read(self.parameter(&weight.range())?)
            .write(self.activation(output));
        self.push(kernel, Grid::Items(Count::Each(rows, 1), 1));
        Ok(())
    }

    fn linear(
        &mut self,
        input: View,
        output: Buffer,
        weight: Matrix,
        bias: Option<Param>,
        residual: Option<Buffer>,
    ) -> Result<(), Error> {
        let (rows, width) = self.info(output);
        let product = Gemm {
            a: (self.activation(input.buffer), self.columns(input)),
            b: (self.parameter(&weight.range())?, Columns::dense(weight.inputs)),
            c: (self.activation(output), Columns::dense(width)),
            a_transposed: false,
            b_transposed: true,
            adds: false,
            m: Count::Each(rows, 1),
            n: weight.outputs,
            k: Count::Fixed(weight.inputs),
            splits: 1,
        };
        let bias = bias.map(|bias| self.parameter(&bias.range())).transpose()?;
        let residual = residual.map(|residual| self.activation(residual));
        self.gemm(&product, bias, residual)
    }

    /// Appends a matrix product.
    pub(super) fn gemm(
        &mut self,
        product: &Gemm,
        bias: Option<Slice>,
        residual: Option<Slice>,
    ) -> Result<(), Error> {
        let ((m, m_scales), (k, k_scales)) = (scaled(product.m)?, scaled(product.k)?);
        let mut kernel = Kernel::new(shader::GEMM)
            .with(if bias.is_some() { shader::BIAS_SOME } else { shader::BIAS_NONE })
            .with(if residual.is_some() { shader::RESIDUAL_SOME } else { shader::RESIDUAL_NONE })
            .set("M", m)
            .set("N", product.n)
            .set("K", k)
            .set("M_SCALES", m_scales)
            .set("K_SCALES", k_scales)
            .set("A_TRANSPOSED", product.a_transposed)
            .set("B_TRANSPOSED", product.b_transposed)
            .set("C_ADDS", product.adds)
            .set("SPLITS", product.splits)
            .view("A", product.a.1)
            .view("B", product.b.1)
            .view("C", product.c.1)
            .read(product.a.0)
            .read(product.b.0)
            .write(product.c.0);
        if let Some(bias) = bias {
            kernel = kernel.read_at(4, bias);
        }
        if let Some(residual) = residual {
            kernel = kernel.read_at(5, residual);
        }
        self.push(kernel, Grid::Tiles(product.m, product.n, product.splits));
        Ok(())
    }

    fn attention(
        &mut self,
        qkv: View,
        output: Buffer,
        log_sum: Buffer,
        heads: usize,
        bias: Option<Param>,
    ) -> Result<(), Error> {
        let shape = Heads::new(self.info(output).1, heads)?;
        let kernel = shape
            .kernel(shader::ATTENTION, self.columns(qkv))
            .read(self.activation(qkv.buffer))
            .write(self.activation(output))
            .write(self.activation(log_sum));
        let kernel = self.with_score_bias(kernel, bias)?;
        self.push(kernel, Grid::Items(Count::Each(Rows::Position, heads), 1));
        Ok(())
    }

    /// Adds attention's bias, if it has one.
    pub(super) fn with_score_bias(
        &self,
        kernel: Kernel,
        bias: Option<Param>,
    ) -> Result<Kernel, Error> {
        Ok(match bias {
            Some(bias) => {
                kernel.with(shader::SCORE_BIAS_SOME).read_at(7, self.parameter(&bias.range())?)
            }
            None => kernel.with(shader::SCORE_BIAS_NONE),
        })
    }

    /// An operation from each row of its input to the same row of its output.
    fn mapped(
        &mut self,
        source: shader::Source,
        function: Option<Pointwise>,
        input: View,
        output: Buffer,
    ) -> Result<(), Error> {
        let (rows, width) = self.info(output);
        let kernel = with_function(Kernel::new(source), function)
            .set("ROWS", per_position(rows)?)
            .view("X", self.columns(input))
            .read(self.activation(input.buffer))
            .write(self.activation(output));
        self.elements(kernel, rows, width);
        Ok(())
    }

    /// A kernel of the scan, its five inputs bound.
    pub(super) fn scan_kernel(&self, source: shader::Source, op: &Op) -> Result<Kernel, Error> {
        let Op::Scan { u, step, bc, z, skip, states, .. } = *op else {
            return Err(Error::Device("only a scan has a scan's kernels".to_owned()));
        };
        Ok(Kernel::new(source)
            .with(shader::SCAN_COMMON)
            .set("STATES", states)
            .view("U", self.columns(u))
            .view("STEP", self.columns(step))
            .view("BC", self.columns(bc))
            .view("Z", self.columns(z))
            .read(self.activation(u.buffer))
            .read(self.activation(step.buffer))
            .read(self.activation(bc.buffer))
            .read(self.activation(z.buffer))
            .read(self.parameter(&skip.range())?))
    }
}

/// Adds the text of a pointwise function.
pub(super) fn with_function(kernel: Kernel, function: Option<Pointwise>) -> Kernel {
    match function {
        Some(Pointwise::Gelu) => kernel.with(shader::GELU),
        Some(Pointwise::Tanh) => kernel.with(shader::TANH),
        None => kernel,
    }
}

/// A count as a constant and whether it is multiplied by the positions.
fn scaled(count: Count) -> Result<(usize, bool), Error> {
    match count {
        Count::Fixed(count) => Ok((count, false)),
        Count::Each(rows, count) => Ok((per_position(rows)? * count, true)),
    }
}
