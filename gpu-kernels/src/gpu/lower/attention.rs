//! Attention over squares and along sequences.
use kibitzer_core::inputs::SQUARES;

use super::{Lowering, Scratch, per_position};
use crate::{
    Error,
    gpu::{
        plan::{Count, Grid, Kernel},
        shader,
    },
    program::{Op, Over, Rows},
};

/// Elements of workgroup memory that a tile of keys and one of values may take: 16 KiB together.
const TILE_ELEMENTS: usize = 2048;
/// Rows of a workgroup.
const BLOCK: usize = 64;

impl Lowering<'_> {
    /// A kernel of attention with what all of them read.
    fn attention_kernel(&self, source: shader::Source, op: &Op) -> Result<Kernel, Error> {
        let Op::Attention { qkv, output, heads, over, bias, .. } = *op else {
            return Err(Error::Device("only attention has attention's kernels".to_owned()));
        };
        let (rows, width) = self.info(output);
        let head = width / heads;
        // The largest power of two that workgroup memory holds, up to a block.
        let keys = [64, 32, 16, 8, 4, 2, 1].into_iter().find(|keys| keys * head <= TILE_ELEMENTS);
        let keys = keys.ok_or_else(|| {
            Error::Device(format!("heads of {head} columns exceed the shaders' {TILE_ELEMENTS}"))
        })?;
        let kernel = Kernel::new(source)
            .with(shader::ATTENTION_COMMON)
            .set("ROWS", per_position(rows)?)
            .set("CAUSAL", over == Over::Sequence)
            .set("HEADS", heads)
            .set("HEAD", head)
            .set("KEYS", keys)
            .set("SCALE", 1.0 / (head as f32).sqrt());
        let kernel = self.input(kernel, "qkv", qkv);
        Ok(match bias {
            Some(bias) => kernel
                .with(shader::SCORE_BIAS_SOME)
                .read("score_biases", self.parameter(&bias.range())?),
            None => kernel.with(shader::SCORE_BIAS_NONE),
        })
    }

    pub(super) fn attention(&mut self, op: &Op) -> Result<(), Error> {
        let Op::Attention { output, log_sum, heads, .. } = *op else { return Ok(()) };
        let kernel = self
            .attention_kernel(shader::ATTENTION, op)?
            .write("y", self.activation(output))
            .write("log_sum", self.activation(log_sum));
        let (rows, _) = self.info(output);
        self.push(kernel, Grid::Blocks(Count::Each(rows, 1), BLOCK, heads));
        Ok(())
    }

    pub(super) fn attention_grad(&mut self, op: &Op) -> Result<(), Error> {
        let Op::Attention { qkv, output, log_sum, heads, bias, .. } = *op else { return Ok(()) };
        let (rows, _) = self.info(output);
        let grid = Grid::Blocks(Count::Each(rows, 1), BLOCK, heads);
        let (dy, log_sum) = (self.gradient(output)?, self.activation(log_sum));
        let delta = self.scratch(Scratch::Row, self.most_rows(rows) * heads);
        let kernel = |lowering: &Self, source| {
            let kernel = lowering.attention_kernel(source, op)?;
            Ok::<_, Error>(kernel.read("log_sum", log_sum).read("dy", dy))
        };
        let queries = kernel(self, shader::ATTENTION_QUERY_GRAD)?
            .read("y", self.activation(output))
            .write("delta", delta);
        self.push(self.input_gradient(queries, "qkv", qkv)?, grid);
        let keys = kernel(self, shader::ATTENTION_KEY_GRAD)?.read("delta", delta);
        self.push(self.input_gradient(keys, "qkv", qkv)?, grid);

        let Some(param) = bias else { return Ok(()) };
        let splits = self.splits(Rows::Position, heads, param.len);
        let partial = self.scratch(Scratch::Partial, splits * param.len);
        let biases = kernel(self, shader::ATTENTION_BIAS_GRAD)?
            .set("SPLITS", splits)
            .read("delta", delta)
            .write("partial", partial);
        self.push(biases, Grid::Items(Count::Fixed(splits * heads * SQUARES), 1));
        self.reduce(partial, self.parameter_gradient(&param.range())?, splits);
        Ok(())
    }
}
