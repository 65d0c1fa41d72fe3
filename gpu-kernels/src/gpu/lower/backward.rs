//! The backward pass of each operation: gradients of its inputs, then of its parameters.
use kibitzer_core::{
    inputs::{AUX, SQUARES, TOKENS},
    moves::MOVES,
};

use super::{
    Lowering, SUM_COLUMNS, Scratch,
    forward::{Gemm, Heads, from_to_scale, with_function},
    per_position,
};
use crate::{
    Error,
    gpu::{
        plan::{Columns, Count, Grid, Kernel, Slice},
        shader,
    },
    program::{Buffer, Matrix, NORM_EPSILON, Op, Over, Param, Pointwise, Rows, View},
};

impl Lowering<'_> {
    /// Appends the dispatches of an operation's backward pass.
    pub(super) fn backward(&mut self, op: &Op) -> Result<(), Error> {
        match *op {
            Op::Embed { output, piece, square, aux } => self.embed_grad(output, piece, square, aux),
            Op::RmsNorm { input, output, weight } => self.rms_norm_grad(input, output, weight),
            Op::Linear { input, output, weight, bias, .. } => {
                self.linear_grad(input, output, weight, bias)
            }
            Op::Attention { over: Over::Squares, .. } => self.attention_grad(op),
            Op::Attention { qkv, output, over: Over::Sequence, .. } => {
                self.single_attention_grad(qkv, output)
            }
            Op::SwiGlu { input, output } => {
                self.mapped_grad(shader::SWIGLU_GRAD, None, input, output)
            }
            Op::Pool { input, output } => self.pool_grad(input, output),
            Op::AddContext { context, output, .. } => {
                let (from, width) = (self.gradient(output)?, context.width);
                let to = (self.gradient(context.buffer)?, self.columns(context));
                self.square_sum(from, to, width, context.accumulate);
                Ok(())
            }
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

    fn embed_grad(
        &mut self,
        output: Buffer,
        piece: Param,
        square: Param,
        aux: Param,
    ) -> Result<(), Error> {
        let width = self.info(output).1;
        let dy = self.gradient(output)?;
        let blocks = width.div_ceil(SUM_COLUMNS);
        let splits = self.splits(Rows::Square, blocks, piece.len);
        let partial = self.scratch(Scratch::Partial, splits * piece.len);
        let kernel = Kernel::new(shader::EMBED_PIECE_GRAD)
            .set("SQUARES", SQUARES)
            .set("TOKENS", TOKENS)
            .set("WIDTH", width)
            .set("SPLITS", splits)
            .read(self.inputs.tokens)
            .read(dy)
            .write(partial);
        self.push(kernel, Grid::Items(Count::Fixed(blocks * splits), 1));
        self.reduce(partial, self.parameter_gradient(&piece.range())?, splits);

        // The 64 squares of a position, seen as one wide row.
        let wide = SQUARES * width;
        let dsquare = self.parameter_gradient(&square.range())?;
        self.column_sum((dy, Columns::dense(wide)), Rows::Position, wide, dsquare)?;

        let sums = self.scratch(Scratch::Position, self.most_rows(Rows::Position) * width);
        self.square_sum(dy, (sums, Columns::dense(width)), width, false);
        self.outer(
            (sums, Columns::dense(width)),
            (self.inputs.scalars, Columns::dense(AUX)),
            Rows::Position,
            Matrix { offset: aux.offset, outputs: width, inputs: AUX },
        )
    }

    /// `y[n] (+)= Σ_s x[n, s]`.
    fn square_sum(&mut self, x: Slice, y: (Slice, Columns), width: usize, adds: bool) {
        let kernel = Kernel::new(shader::SQUARE_SUM)
            .set("SQUARES", SQUARES)
            .set("FACTOR", 1.0)
            .set("Y_ADDS", adds)
            .view("X", Columns::dense(width))
            .view("Y", y.1)
            .read(x)
            .write(y.0);
        self.elements(kernel, Rows::Position, width);
    }

    /// `y += Σ_rows x[row]`.
    fn column_sum(
        &mut self,
        x: (Slice, Columns),
        rows: Rows,
        width: usize,
        y: Slice,
    ) -> Result<(), Error> {
        let blocks = width.div_ceil(SUM_COLUMNS);
        let splits = self.splits(rows, blocks, width);
        let to = if splits > 1 { self.scratch(Scratch::Partial, splits * width) } else { y };
        let kernel = Kernel::new(shader::COLUMN_SUM)
            .set("ROWS", per_position(rows)?)
            .set("WIDTH", width)
            .set("SPLITS", splits)
            .view("X", x.1)
            .read(x.0)
            .write(to);
        self.push(kernel, Grid::Items(Count::Fixed(blocks * splits), 1));
        if splits > 1 {
            self.reduce(to, y, splits);
        }
        Ok(())
    }

    /// The gradient of a matrix: `W' += Σ_rows yᵀ x`.
    fn outer(
        &mut self,
        y: (Slice, Columns),
        x: (Slice, Columns),
        rows: Rows,
        weight: Matrix,
    ) -> Result<(), Error> {
        let Matrix { outputs, inputs, .. } = weight;
        let gradient = self.parameter_gradient(&weight.range())?;
        let tiles = outputs.div_ceil(64) * inputs.div_ceil(64);
        let splits = self.splits(rows, tiles, gradient.len);
        let partial = self.scratch(Scratch::Partial, splits * gradient.len);
        let product = Gemm {
            a: y,
            b: x,
            c: (if splits > 1 { partial } else { gradient }, Columns::dense(inputs)),
            a_transposed: true,
            b_transposed: false,
            adds: splits == 1,
            m: Count::Fixed(outputs),
            n: inputs,
            k: Count::Each(rows, 1),
            splits,
        };
        self.gemm(&product, None, None)?;
        if splits > 1 {
            self.reduce(partial, gradient, splits);
        }
        Ok(())
    }

    fn rms_norm_grad(&mut self, input: View, output: Buffer, weight: Param) -> Result<(), Error> {
        let (rows, width) = self.info(output);
        let dy = self.gradient(output)?;
        let scale = self.scratch(Scratch::Row, self.most_rows(rows));
        let kernel = Kernel::new(shader::RMS_NORM_GRAD)
            .with(shader::SUM64)
            .set("ROWS", per_position(rows)?)
            .set("WIDTH", width)
            .set("EPSILON", NORM_EPSILON)
            .set("X_ADDS", input.accumulate)
            .view("X", self.columns(input))
            .read(self.activation(input.buffer))
            .read(self.parameter(&weight.range())?)
            .read(dy)
            .write(self.gradient(input.buffer)?)
            .write(scale);
        self.push(kernel, Grid::Items(Count::Each(rows, 1), 1));

        let blocks = width.div_ceil(SUM_COLUMNS);
        let splits = self.splits(rows, blocks, width);
        let partial = self.scratch(Scratch::Partial, splits * width);
        let kernel = Kernel::new(shader::RMS_NORM_WEIGHT_GRAD)
            .set("ROWS", per_position(rows)?)
            .set("WIDTH", width)
            .set("SPLITS", splits)
            .view("X", self.columns(input))
            .read(self.activation(input.buffer))
            .read(dy)
            .read(scale)
            .write(partial);
        self.push(kernel, Grid::Items(Count::Fixed(blocks * splits), 1));
        self.reduce(partial, self.parameter_gradient(&weight.range())?, splits);
        Ok(())
    }

    fn linear_grad(
        &mut self,
        input: View,
        output: Buffer,
        weight: Matrix,
        bias: Option<Param>,
    ) -> Result<(), Error> {
        let (rows, width) = self.info(output);
        let dy = (self.gradient(output)?, Columns::dense(width));
        let columns = self.columns(input);
        let product = Gemm {
            a: dy,
            b: (self.parameter(&weight.range())?, Columns::dense(weight.inputs)),
            c: (self.gradient(input.buffer)?, columns),
            a_transposed: false,
            b_transposed: false,
            adds: input.accumulate,
            m: Count::Each(rows, 1),
            n: weight.inputs,
            k: Count::Fixed(weight.outputs),
            splits: 1,
        };
        self.gemm(&product, None, None)?;
        self.outer(dy, (self.activation(input.buffer), columns), rows, weight)?;
        if let Some(bias) = bias {
            self.column_sum(dy, rows, width, self.parameter_gradient(&bias.range())?)?;
        }
        Ok(())
    }

    fn attention_grad(&mut self, op: &Op) -> Result<(), Error> {
        let Op::Attention { qkv, output, log_sum, heads, bias, .. } = *op else {
            return Err(Error::Device("only attention has attention's kernels".to_owned()));
        };
        let shape = Heads::new(self.info(output).1, heads)?;
        let columns = self.columns(qkv);
        let dy = self.gradient(output)?;
        let dqkv = self.gradient(qkv.buffer)?;
        let delta = self.scratch(Scratch::Row, self.most_rows(Rows::Square) * heads);
        let grid = Grid::Items(Count::Each(Rows::Position, heads), 1);
        let kernel = shape
            .kernel(shader::ATTENTION_QUERY_GRAD, columns)
            .set("QKV_ADDS", qkv.accumulate)
            .read(self.activation(qkv.buffer))
            .read(self.activation(output))
            .read(self.activation(log_sum))
            .read(dy)
            .write(dqkv)
            .write(delta);
        let kernel = self.with_score_bias(kernel, bias)?;
        self.push(kernel, grid);

        let kernel = shape
            .kernel(shader::ATTENTION_KEY_GRAD, columns)
            .set("QKV_ADDS", qkv.accumulate)
            .read(self.activation(qkv.buffer))
            .read(self.activation(log_sum))
            .read(dy)
            .read(delta)
            .write(dqkv);
        let kernel = self.with_score_bias(kernel, bias)?;
        self.push(kernel, grid);

        let Some(param) = bias else { return Ok(()) };
        let splits = self.splits(Rows::Position, heads, param.len);
        let partial = self.scratch(Scratch::Partial, splits * param.len);
        let kernel = shape
            .kernel(shader::ATTENTION_BIAS_GRAD, columns)
            .set("SPLITS", splits)
            .read(self.activation(qkv.buffer))
            .read(self.activation(log_sum))
            .read(dy)
            .read(delta)
            .write(partial);
        let kernel = self.with_score_bias(kernel, bias)?;
        self.push(kernel, Grid::Items(Count::Fixed(splits * heads * SQUARES), 1));
        self.reduce(partial, self.parameter_gradient(&param.range())?, splits);
        Ok(())
    }

    fn single_attention_grad(&mut self, qkv: View, output: Buffer) -> Result<(), Error> {
        let (_, width) = self.info(output);
        let kernel = Kernel::new(shader::ATTENTION_SINGLE_GRAD)
            .set("WIDTH", width)
            .set("QKV_ADDS", qkv.accumulate)
            .view("QKV", self.columns(qkv))
            .read(self.gradient(output)?)
            .write(self.gradient(qkv.buffer)?);
        let items = Count::Each(Rows::Position, 3 * width);
        self.push(kernel, Grid::Items(items, super::ELEMENTS));
        Ok(())
    }

    fn mapped_grad(
        &mut self,
        source: shader::Source,
        function: Option<Pointwise>,
        input: View,
        output: Buffer,
    ) -> Result<(), Error> {
        let (rows, width) = self.info(output);
        let kernel = with_function(Kernel::new(source), function)
            .set("ROWS", per_position(rows)?)
            .set("X_ADDS", input.accumulate)
            .view("X", self.columns(input))
            .read(self.activation(input.buffer))
            .read(self.gradient(output)?)
            .write(self.gradient(input.buffer)?);
        self.elements(kernel, rows, width);
        Ok(())
    }

    fn pool_grad(&mut self, input: View, output: Buffer) -> Result<(), Error> {
        let (_, width) = self.info(output);
        let kernel = Kernel::new(shader::SQUARE_SPREAD)
            .set("SQUARES", SQUARES)
            .set("FACTOR", 1.0 / SQUARES as f32)
            .set("Y_ADDS", input.accumulate)
            .view("Y", self.columns(input))
            .read(self.gradient(output)?)
            .write(self.gradient(input.buffer)?);
        self.elements(kernel, Rows::Square, width);
        Ok(())
    }

    fn conv_grad(
        &mut self,
        input: View,
        output: Buffer,
        weight: Param,
        bias: Param,
        taps: usize,
    ) -> Result<(), Error> {
        let (rows, width) = self.info(output);
        let dy = self.gradient(output)?;
        let (w, b) = (self.parameter(&weight.range())?, self.parameter(&bias.range())?);
        let x = self.activation(input.buffer);
        let columns = self.columns(input);
        let kernel = |source| Kernel::new(source).set("TAPS", taps).view("X", columns);
        let inputs = kernel(shader::CONV_SINGLE_GRAD)
            .set("X_ADDS", input.accumulate)
            .read(x)
            .read(w)
            .read(b)
            .read(dy)
            .write(self.gradient(input.buffer)?);
        self.elements(inputs, rows, width);
        let parameters = kernel(shader::CONV_SINGLE_WEIGHT_GRAD)
            .set("WIDTH", width)
            .read(x)
            .read(w)
            .read(b)
            .read(dy)
            .write(self.parameter_gradient(&weight.range())?)
            .write(self.parameter_gradient(&bias.range())?);
        self.push(parameters, Grid::Items(Count::Fixed(width), SUM_COLUMNS));
        Ok(())
    }

    fn scan_grad(&mut self, op: &Op) -> Result<(), Error> {
        let Op::Scan { u, step, bc, z, output, skip, .. } = *op else {
            return Err(Error::Device("only a scan has a scan's kernels".to_owned()));
        };
        let (rows, width) = self.info(output);
        let dy = self.gradient(output)?;
        let gate = self
            .scan_kernel(shader::SCAN_SINGLE_GATE_GRAD, op)?
            .set("Z_ADDS", z.accumulate)
            .read(dy)
            .write(self.gradient(z.buffer)?);
        self.elements(gate, rows, width);
        let channels = self
            .scan_kernel(shader::SCAN_SINGLE_GRAD, op)?
            .set("U_ADDS", u.accumulate)
            .set("STEP_ADDS", step.accumulate)
            .read(dy)
            .write(self.gradient(u.buffer)?)
            .write(self.gradient(step.buffer)?);
        self.elements(channels, rows, width);
        let states = self
            .scan_kernel(shader::SCAN_SINGLE_BC_GRAD, op)?
            .with(shader::SUM64)
            .set("WIDTH", width)
            .set("BC_ADDS", bc.accumulate)
            .read(dy)
            .write(self.gradient(bc.buffer)?);
        self.push(states, Grid::Items(Count::Each(rows, 1), 1));
        let skips = self
            .scan_kernel(shader::SCAN_SINGLE_SKIP_GRAD, op)?
            .set("WIDTH", width)
            .read(dy)
            .write(self.parameter_gradient(&skip.range())?);
        self.push(skips, Grid::Items(Count::Fixed(width), SUM_COLUMNS));
        Ok(())
    }

    fn legal_linear_grad(
        &mut self,
        input: View,
        output: Buffer,
        weight: Matrix,
        bias: Param,
    ) -> Result<(), Error> {
        let dy = self.gradient(output)?;
        let columns = self.columns(input);
        let inputs = Kernel::new(shader::LEGAL_LINEAR_GRAD)
            .with(shader::ENTRIES)
            .set("X_ADDS", input.accumulate)
            .view("X", columns)
            .read(self.inputs.entries)
            .read(self.inputs.offsets)
            .read(self.parameter(&weight.range())?)
            .read(dy)
            .write(self.gradient(input.buffer)?);
        self.elements(inputs, Rows::Position, weight.inputs);
        let parameters = Kernel::new(shader::LEGAL_LINEAR_WEIGHT_GRAD)
            .with(shader::ENTRIES)
            .set("MOVES", MOVES)
            .set("WIDTH", weight.inputs)
            .view("X", columns)
            .read(self.inputs.entries)
            .read(self.inputs.starts)
            .read(self.inputs.by_index)
            .read(self.activation(input.buffer))
            .read(dy)
            .write(self.parameter_gradient(&weight.range())?)
            .write(self.parameter_gradient(&bias.range())?);
        let items = Count::Fixed(MOVES * weight.inputs);
        self.push(parameters, Grid::Items(items, super::ELEMENTS));
        Ok(())
    }

    fn side_grad(
        &mut self,
        side: View,
        other: View,
        is_from: bool,
        output: Buffer,
    ) -> Result<(), Error> {
        let kernel = Kernel::new(shader::FROM_TO_GRAD)
            .with(shader::ENTRIES)
            .set("SQUARES", SQUARES)
            .set("FROM", is_from)
            .set("SCALE", from_to_scale(side.width))
            .set("X_ADDS", side.accumulate)
            .view("X", self.columns(side))
            .view("OTHER", self.columns(other))
            .read(self.inputs.entries)
            .read(self.inputs.offsets)
            .read(self.activation(other.buffer))
            .read(self.gradient(output)?)
            .write(self.gradient(side.buffer)?);
        self.elements(kernel, Rows::Square, side.width);
        Ok(())
    }

    fn promotion_grad(&mut self, promotion: View, output: Buffer) -> Result<(), Error> {
        let kernel = Kernel::new(shader::FROM_TO_PROMOTION_GRAD)
            .with(shader::ENTRIES)
            .set("SQUARES", SQUARES)
            .set("X_ADDS", promotion.accumulate)
            .view("X", self.columns(promotion))
            .read(self.inputs.entries)
            .read(self.inputs.offsets)
            .read(self.gradient(output)?)
            .write(self.gradient(promotion.buffer)?);
        self.elements(kernel, Rows::Square, promotion.width);
        Ok(())
    }

    fn loss(&mut self, logits: View, values: View) -> Result<(), Error> {
        let kernel = Kernel::new(shader::LOSS)
            .with(shader::SUM64)
            .read(self.inputs.offsets)
            .read(self.activation(logits.buffer))
            .read(self.inputs.wanted)
            .read(self.activation(values.buffer))
            .read(self.inputs.outcomes)
            .write(self.gradient(logits.buffer)?)
            .write(self.gradient(values.buffer)?)
            .write(self.losses);
        self.push(kernel, Grid::Items(Count::Each(Rows::Position, 1), 1));
        let kernel = Kernel::new(shader::TALLY)
            .with(shader::SUM256)
            .with(shader::SUMMARY)
            .read(self.losses)
            .write(self.summary);
        self.push(kernel, Grid::Items(Count::Fixed(1), 1));
        Ok(())
    }
}
