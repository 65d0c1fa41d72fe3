//! The policy heads and the loss.
use kibitzer_core::{inputs::SQUARES, moves::MOVES};

use super::{
    ELEMENTS, Lowering,
    linear::{row, store_row},
};
use crate::{
    Error,
    gpu::{
        plan::{Columns, Count, Grid, Kernel, Packing},
        shader,
    },
    program::{Buffer, Matrix, Param, Rows, View},
};

/// The scale of the `from_to` policy's scores.
fn from_to_scale(width: usize) -> f32 {
    1.0 / (width as f32).sqrt()
}

impl Lowering<'_> {
    /// A kernel that reads the legal entries.
    fn entries_kernel(&self, source: shader::Source) -> Kernel {
        Kernel::new(source).with(shader::ENTRIES).read("entries", self.inputs().entries)
    }

    /// One that goes through the entries of each position.
    fn position_kernel(&self, source: shader::Source, output: Buffer) -> Result<Kernel, Error> {
        let kernel = self.entries_kernel(source).read("offsets", self.inputs().offsets);
        Ok(kernel.read("dy", self.gradient(output)?))
    }

    /// How shaders see matrices of which they take four neighbours in a row at a time.
    fn rows_packing(&self, views: &[View]) -> Packing {
        let whole = views.iter().all(|&view| {
            let Columns { pitch, column } = self.columns(view);
            [pitch, column, view.width].iter().all(|n| n % 4 == 0)
        });
        if whole { Packing::Vectors } else { Packing::Elements }
    }

    pub(super) fn legal_linear(
        &mut self,
        input: View,
        output: Buffer,
        weight: Matrix,
        bias: Param,
    ) -> Result<(), Error> {
        let kernel = self
            .entries_kernel(shader::LEGAL_LINEAR)
            .with(shader::SUM64)
            .set("WIDTH", weight.inputs)
            .read("w", self.parameter(&weight.range())?)
            .read("b", self.parameter(&bias.range())?)
            .write("y", self.activation(output));
        let kernel = self.input(kernel, "x", input);
        self.push(kernel, Grid::Items(Count::Each(Rows::Legal, 1), 1));
        Ok(())
    }

    pub(super) fn legal_linear_grad(
        &mut self,
        input: View,
        output: Buffer,
        weight: Matrix,
        bias: Param,
    ) -> Result<(), Error> {
        let kernel = self
            .position_kernel(shader::LEGAL_LINEAR_GRAD, output)?
            .read("w", self.parameter(&weight.range())?);
        let kernel = self.input_gradient(kernel, "x", input)?;
        self.elements(kernel, Rows::Position, weight.inputs)?;
        let kernel = self
            .entries_kernel(shader::LEGAL_LINEAR_WEIGHT_GRAD)
            .set("MOVES", MOVES)
            .set("WIDTH", weight.inputs)
            .read("starts", self.inputs().starts)
            .read("by_index", self.inputs().by_index)
            .read("dy", self.gradient(output)?)
            .write("dw", self.parameter_gradient(&weight.range())?)
            .write("db", self.parameter_gradient(&bias.range())?);
        let kernel = self.input(kernel, "x", input);
        self.push(kernel, Grid::Items(Count::Fixed(MOVES * weight.inputs), ELEMENTS));
        Ok(())
    }

    pub(super) fn square_pairs(
        &mut self,
        (from, to, promotion): (View, View, View),
        output: Buffer,
    ) -> Result<(), Error> {
        let packing = self.rows_packing(&[from, to]);
        let kernel = self
            .entries_kernel(shader::FROM_TO)
            .set("SQUARES", SQUARES)
            .set("WIDTH", from.width)
            .set("SCALE", from_to_scale(from.width))
            .with_text(&row("origin", packing))
            .with_text(&row("goal", packing))
            .view("ORIGIN", self.columns(from))
            .view("GOAL", self.columns(to))
            .read_packed("origin", self.activation(from.buffer), packing)
            .read_packed("goal", self.activation(to.buffer), packing);
        let kernel = self.input(kernel, "promotion", promotion);
        let kernel = kernel.write("y", self.activation(output));
        self.push(kernel, Grid::Items(Count::Each(Rows::Legal, 1), ELEMENTS));
        Ok(())
    }

    pub(super) fn side_grad(
        &mut self,
        side: View,
        other: View,
        is_from: bool,
        output: Buffer,
    ) -> Result<(), Error> {
        let packing = self.rows_packing(&[side, other]);
        let kernel = self
            .position_kernel(shader::FROM_TO_GRAD, output)?
            .with_text(&row("other", packing))
            .with_text(&store_row("dx", "X", packing))
            .set("SQUARES", SQUARES)
            .set("COLUMNS", side.width)
            .set("FROM", is_from)
            .set("SCALE", from_to_scale(side.width))
            .set("X_ADDS", side.accumulate)
            .view("X", self.columns(side))
            .view("OTHER", self.columns(other))
            .read_packed("other", self.activation(other.buffer), packing)
            .write_packed("dx", self.gradient(side.buffer)?, packing);
        self.elements(kernel, Rows::Square, side.width.div_ceil(4))
    }

    pub(super) fn promotion_grad(&mut self, promotion: View, output: Buffer) -> Result<(), Error> {
        let kernel =
            self.position_kernel(shader::FROM_TO_PROMOTION_GRAD, output)?.set("SQUARES", SQUARES);
        let kernel = self.input_gradient(kernel, "x", promotion)?;
        self.elements(kernel, Rows::Square, promotion.width)
    }

    pub(super) fn loss(&mut self, logits: View, values: View) -> Result<(), Error> {
        let kernel = Kernel::new(shader::LOSS)
            .with(shader::SUM64)
            .with(shader::SUMMARY)
            .set("VALUES_AT", self.inputs().outcomes.first)
            .read("offsets", self.inputs().offsets)
            .read("logits", self.activation(logits.buffer))
            .read("values", self.activation(values.buffer))
            .read("targets", self.inputs().targets)
            .read("control", self.allocation.control)
            .write("dlogits", self.gradient(logits.buffer)?)
            .write("dvalues", self.gradient(values.buffer)?)
            .write("losses", self.allocation.losses);
        self.push(kernel, Grid::Items(Count::Each(Rows::Position, 1), 1));
        let kernel = Kernel::new(shader::TALLY)
            .with(shader::SUM256)
            .with(shader::SUMMARY)
            .read("losses", self.allocation.losses)
            .write("summary", self.allocation.summary);
        self.push(kernel, Grid::Items(Count::Fixed(1), 1));
        Ok(())
    }
}
