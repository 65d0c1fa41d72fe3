//! Attention over squares, and over a sequence of one position.
use kibitzer_core::inputs::SQUARES;

use super::{ELEMENTS, Lowering, Scratch};
use crate::{
    Error,
    gpu::{
        plan::{Columns, Count, Grid, Kernel},
        shader,
    },
    program::{Buffer, Op, Param, Rows, View},
};

/// Elements of workgroup memory that a tile of keys and one of values may take: 16 KiB together.
const TILE_ELEMENTS: usize = 2048;

/// A head of attention over squares, as its kernels see it.
struct Heads {
    heads: usize,
    head: usize,
    keys: usize,
}

impl Heads {
    fn new(width: usize, heads: usize) -> Result<Heads, Error> {
        let head = width / heads;
        // The largest power of two that workgroup memory holds, up to all 64 squares.
        let keys = [64, 32, 16, 8, 4, 2, 1].into_iter().find(|keys| keys * head <= TILE_ELEMENTS);
        let keys = keys.ok_or_else(|| {
            Error::Device(format!("heads of {head} columns exceed the shaders' {TILE_ELEMENTS}"))
        })?;
        Ok(Heads { heads, head, keys })
    }

    fn kernel(&self, source: shader::Source, qkv: Columns) -> Kernel {
        Kernel::new(source)
            .set("HEADS", self.heads)
            .set("HEAD", self.head)
            .set("KEYS", self.keys)
            .set("SCALE", 1.0 / (self.head as f32).sqrt())
            .view("QKV", qkv)
    }
}

impl Lowering<'_> {
    pub(super) fn single_attention(&mut self, qkv: View, output: Buffer) -> Result<(), Error> {
        let (rows, width) = self.info(output);
        let kernel = Kernel::new(shader::ATTENTION_SINGLE)
            .view("QKV", self.columns(qkv))
            .read(self.activation(qkv.buffer))
            .write(self.activation(output));
        self.elements(kernel, rows, width);
        Ok(())
    }

    pub(super) fn attention(
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

    pub(super) fn attention_grad(&mut self, op: &Op) -> Result<(), Error> {
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

    pub(super) fn single_attention_grad(&mut self, qkv: View, output: Buffer) -> Result<(), Error> {
        let (_, width) = self.info(output);
        let kernel = Kernel::new(shader::ATTENTION_SINGLE_GRAD)
            .set("WIDTH", width)
            .set("QKV_ADDS", qkv.accumulate)
            .view("QKV", self.columns(qkv))
            .read(self.gradient(output)?)
            .write(self.gradient(qkv.buffer)?);
        let items = Count::Each(Rows::Position, 3 * width);
        self.push(kernel, Grid::Items(items, ELEMENTS));
        Ok(())
    }
}
