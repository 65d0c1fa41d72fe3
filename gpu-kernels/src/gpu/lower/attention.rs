//! Attention over squares and along sequences.
use kibitzer_core::inputs::SQUARES;

use super::{
    Lowering, Scratch,
    linear::{row, store_row},
    per_position,
};
use crate::{
    Error,
    gpu::{
        gemm,
        plan::{Columns, Count, Grid, Kernel, Packing},
        shader,
    },
    program::{Op, Over, Rows, View},
};

/// Elements of workgroup memory that a tile of keys and one of values may take: 16 KiB together.
const TILE_ELEMENTS: usize = 2048;
/// Rows of a workgroup, where they are no subgroup.
const BLOCK: usize = 64;
/// Most keys whose biases' gradients an invocation sums, in registers.
const BIAS_KEYS: usize = 8;

/// How the kernels of one operation see its matrices and share what they load.
#[derive(Debug, Clone, Copy)]
struct Form {
    /// Columns of a head.
    head: usize,
    packing: Packing,
    /// Rows of a workgroup.
    block: usize,
    /// Invocations of a subgroup, if that is what shares.
    lanes: Option<usize>,
}

impl Form {
    /// Rows of a tile: a subgroup's, or the largest power of two that workgroup memory holds.
    fn keys(&self) -> Result<usize, Error> {
        let Form { head, lanes, .. } = *self;
        // Vectors are whole, even where heads are not.
        let columns = head.next_multiple_of(4);
        let fits = |keys: &usize| keys * columns <= TILE_ELEMENTS;
        let keys = [64, 32, 16, 8, 4, 2, 1].into_iter().find(fits);
        let keys = keys.ok_or_else(|| {
            Error::Device(format!("heads of {head} columns exceed the shaders' {TILE_ELEMENTS}"))
        })?;
        Ok(lanes.unwrap_or(keys))
    }

    /// A kernel of attention, with what all of them draw on.
    fn kernel(&self, source: shader::Source, keys: usize) -> Kernel {
        let Form { head, packing, block, lanes } = *self;
        let vectors = head.div_ceil(4);
        let (sharing, local) = match lanes {
            Some(_) => (shader::ATTENTION_LANES, "subgroup_invocation_id"),
            None => (shader::ATTENTION_MEMORY, "local_invocation_index"),
        };
        let counts = [("VECTORS", vectors), ("KEYS", keys)];
        let text = gemm::expand(&[sharing.text, source.text].concat(), &counts);
        Kernel::named(source.name)
            .with(shader::ATTENTION_COMMON)
            .with_text(&row("qkv", packing))
            .with_text(&text.replace("{LOCAL}", local))
            .set("SQUARES", SQUARES)
            .set("HEAD", head)
            .set("VECTORS", vectors)
            .set("KEYS", keys)
            .set("BLOCK", block)
    }
}

impl Lowering<'_> {
    fn attention_form(&self, qkv: View, head: usize) -> Form {
        let columns = self.columns(qkv);
        let whole = [head, columns.pitch, columns.column].iter().all(|n| n % 4 == 0);
        let lanes = self.choices.sharing_lanes();
        let packing = if whole { Packing::Vectors } else { Packing::Elements };
        Form { head, packing, block: lanes.unwrap_or(BLOCK), lanes }
    }

    /// A kernel of attention with what all of them read.
    fn attention_kernel(
        &self,
        source: shader::Source,
        op: &Op,
        form: Form,
        keys: usize,
    ) -> Result<Kernel, Error> {
        let Op::Attention { qkv, output, heads, over, bias, .. } = *op else {
            return Err(Error::Device("only attention has attention's kernels".to_owned()));
        };
        let (rows, _) = self.info(output);
        let kernel = form
            .kernel(source, keys)
            .set("ROWS", per_position(rows)?)
            .set("CAUSAL", over == Over::Sequence)
            .set("HEADS", heads)
            .set("SCALE", 1.0 / (form.head as f32).sqrt())
            .view("QKV", self.columns(qkv))
            .read_packed("qkv", self.activation(qkv.buffer), form.packing);
        Ok(match bias {
            Some(bias) => kernel
                .with(shader::SCORE_BIAS_SOME)
                .read("score_biases", self.parameter(&bias.range())?),
            None => kernel.with(shader::SCORE_BIAS_NONE),
        })
    }

    pub(super) fn attention(&mut self, op: &Op) -> Result<(), Error> {
        let Op::Attention { qkv, output, log_sum, heads, .. } = *op else { return Ok(()) };
        let (rows, width) = self.info(output);
        let form = self.attention_form(qkv, width / heads);
        let kernel = self
            .attention_kernel(shader::ATTENTION, op, form, form.keys()?)?
            .with(shader::ATTENTION_KEYS)
            .with_text(&store_row("y", "Y", form.packing))
            .view("Y", Columns::dense(width))
            .set("Y_ADDS", false)
            .write_packed("y", self.activation(output), form.packing)
            .write("log_sum", self.activation(log_sum));
        self.push(kernel, Grid::Blocks(Count::Each(rows, 1), form.block, heads));
        Ok(())
    }

    pub(super) fn attention_grad(&mut self, op: &Op) -> Result<(), Error> {
        let Op::Attention { qkv, output, log_sum, heads, bias, .. } = *op else { return Ok(()) };
        let (rows, width) = self.info(output);
        let form = self.attention_form(qkv, width / heads);
        let grid = Grid::Blocks(Count::Each(rows, 1), form.block, heads);
        let (dy, log_sum) = (self.gradient(output)?, self.activation(log_sum));
        let dqkv = self.gradient(qkv.buffer)?;
        let delta = self.scratch(Scratch::Row, self.most_rows(rows) * heads);
        let kernel = |lowering: &Self, source, keys| {
            let kernel = lowering.attention_kernel(source, op, form, keys)?;
            Ok::<_, Error>(
                kernel
                    .with_text(&row("dy", form.packing))
                    .view("DY", Columns::dense(width))
                    .read("log_sum", log_sum)
                    .read_packed("dy", dy, form.packing),
            )
        };
        let stores = |kernel: Kernel| {
            kernel
                .with_text(&store_row("dqkv", "QKV", form.packing))
                .set("QKV_ADDS", qkv.accumulate)
                .write_packed("dqkv", dqkv, form.packing)
        };
        let queries = kernel(self, shader::ATTENTION_QUERY_GRAD, form.keys()?)?
            .with(shader::ATTENTION_KEYS)
            .with_text(&row("y", form.packing))
            .view("Y", Columns::dense(width))
            .read_packed("y", self.activation(output), form.packing)
            .write("delta", delta);
        self.push(stores(queries), grid);
        let keys = kernel(self, shader::ATTENTION_KEY_GRAD, form.keys()?)?.read("delta", delta);
        self.push(stores(keys), grid);

        let Some(param) = bias else { return Ok(()) };
        let keys = form.keys()?.min(BIAS_KEYS);
        let groups = heads * (SQUARES / form.block) * (SQUARES / keys);
        let splits = self.splits(Rows::Square, groups, param.len);
        let partial = self.scratch(Scratch::Partial, splits * param.len);
        let biases = kernel(self, shader::ATTENTION_BIAS_GRAD, keys)?
            .with(shader::ATTENTION_KEYS)
            .set("SPLITS", splits)
            .read("delta", delta)
            .write("partial", partial);
        self.push(biases, Grid::Items(Count::Fixed(splits * groups), 1));
        self.reduce(partial, self.parameter_gradient(&param.range())?, splits);
        Ok(())
    }
}
