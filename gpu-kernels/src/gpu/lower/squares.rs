//! Between a position and its 64 squares: embedding, pooling, context.
use kibitzer_core::inputs::{AUX, SQUARES, TOKENS};

use super::{Lowering, SUM_COLUMNS, Scratch};
use crate::{
    Error,
    gpu::{
        plan::{Columns, Count, Grid, Kernel, Slice},
        shader,
    },
    program::{Buffer, Matrix, Param, Rows, View},
};

impl Lowering<'_> {
    pub(super) fn pool(&mut self, input: View, output: Buffer) -> Result<(), Error> {
        let x = (self.activation(input.buffer), self.columns(input));
        let y = (self.activation(output), Columns::dense(input.width));
        self.sum_groups(x, SQUARES, y, input.width, 1.0 / SQUARES as f32, false)
    }

    pub(super) fn add_context(
        &mut self,
        squares: Buffer,
        context: View,
        output: Buffer,
    ) -> Result<(), Error> {
        let (rows, width) = self.info(output);
        let kernel = Kernel::new(shader::ADD_CONTEXT)
            .set("SQUARES", SQUARES)
            .view("C", self.columns(context))
            .read("x", self.activation(squares))
            .read("c", self.activation(context.buffer))
            .write("y", self.activation(output));
        self.elements(kernel, rows, width)
    }

    pub(super) fn add_context_grad(&mut self, context: View, output: Buffer) -> Result<(), Error> {
        let x = (self.gradient(output)?, Columns::dense(context.width));
        let y = (self.gradient(context.buffer)?, self.columns(context));
        self.sum_groups(x, SQUARES, y, context.width, 1.0, context.accumulate)
    }

    pub(super) fn embed(
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
            .read("tokens", self.inputs().tokens)
            .read("scalars", self.inputs().scalars)
            .read("piece", self.parameter(&piece.range())?)
            .read("square", self.parameter(&square.range())?)
            .read("aux", self.parameter(&aux.range())?)
            .write("y", self.activation(output));
        self.elements(kernel, rows, width)
    }

    pub(super) fn embed_grad(
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
            .read("tokens", self.inputs().tokens)
            .read("dy", dy)
            .write("partial", partial);
        self.push(kernel, Grid::Items(Count::Fixed(blocks * splits), 1));
        self.reduce(partial, self.parameter_gradient(&piece.range())?, splits);

        // The 64 squares of a position, seen as one wide row.
        let wide = SQUARES * width;
        let dsquare = self.parameter_gradient(&square.range())?;
        self.column_sum((dy, Columns::dense(wide)), Rows::Position, dsquare)?;

        let sums = self.scratch(Scratch::Position, self.most_rows(Rows::Position) * width);
        let dense = Columns::dense(width);
        self.sum_groups((dy, dense), SQUARES, (sums, dense), width, 1.0, false)?;
        self.outer(
            (sums, dense),
            (self.inputs().scalars, Columns::dense(AUX)),
            Rows::Position,
            Matrix { offset: aux.offset, outputs: width, inputs: AUX },
        )
    }

    pub(super) fn pool_grad(&mut self, input: View, output: Buffer) -> Result<(), Error> {
        let (_, width) = self.info(output);
        let kernel = Kernel::new(shader::SQUARE_SPREAD)
            .set("SQUARES", SQUARES)
            .set("FACTOR", 1.0 / SQUARES as f32)
            .set("Y_ADDS", input.accumulate)
            .view("Y", self.columns(input))
            .read("x", self.gradient(output)?)
            .write("y", self.gradient(input.buffer)?);
        self.elements(kernel, Rows::Square, width)
    }

    /// `y[n] (+)= factor · Σ_j x[n, j]`, a position having `group` rows of x.
    pub(super) fn sum_groups(
        &mut self,
        x: (Slice, Columns),
        group: usize,
        y: (Slice, Columns),
        width: usize,
        factor: f32,
        adds: bool,
    ) -> Result<(), Error> {
        let kernel = Kernel::new(shader::GROUP_SUM)
            .set("GROUP", group)
            .set("FACTOR", factor)
            .set("Y_ADDS", adds)
            .view("X", x.1)
            .view("Y", y.1)
            .read("x", x.0)
            .write("y", y.0);
        self.elements(kernel, Rows::Position, width)
    }
}
