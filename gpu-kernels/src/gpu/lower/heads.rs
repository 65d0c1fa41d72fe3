//! The policy heads and the loss.
use kibitzer_core::{inputs::SQUARES, moves::MOVES};

use super::{ELEMENTS, Lowering};
use crate::{
    Error,
    gpu::{
        plan::{Count, Grid, Kernel},
        shader,
    },
    program::{Buffer, Matrix, Param, Rows, View},
};

/// The scale of the `from_to` policy's scores.
fn from_to_scale(width: usize) -> f32 {
    1.0 / (width as f32).sqrt()
}

impl Lowering<'_> {
    pub(super) fn legal_linear(
        &mut self,
        input: View,
        output: Buffer,
        weight: Matrix,
        bias: Param,
    ) -> Result<(), Error> {
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

    pub(super) fn square_pairs(
        &mut self,
        (from, to, promotion): (View, View, View),
        output: Buffer,
    ) -> Result<(), Error> {
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
        self.push(kernel, Grid::Items(Count::Each(Rows::Legal, 1), ELEMENTS));
        Ok(())
    }

    pub(super) fn legal_linear_grad(
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
        self.push(parameters, Grid::Items(items, ELEMENTS));
        Ok(())
    }

    pub(super) fn side_grad(
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

    pub(super) fn promotion_grad(&mut self, promotion: View, output: Buffer) -> Result<(), Error> {
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

    pub(super) fn loss(&mut self, logits: View, values: View) -> Result<(), Error> {
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
