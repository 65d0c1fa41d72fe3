//! RMSNorm.
use super::{Lowering, Scratch, per_position};
use crate::{
    Error,
    gpu::{
        plan::{Count, Grid, Kernel},
        shader,
    },
    program::{Buffer, NORM_EPSILON, Param, View},
};

impl Lowering<'_> {
    pub(super) fn rms_norm(
        &mut self,
        input: View,
        output: Buffer,
        weight: Param,
    ) -> Result<(), Error> {
        let (rows, width) = self.info(output);
        let kernel = Kernel::new(shader::RMS_NORM)
            .with(shader::SUM64)
            .set("ROWS", per_position(rows)?)
            .set("WIDTH", width)
            .set("EPSILON", NORM_EPSILON)
            .view("X", self.columns(input))
            .read("x", self.activation(input.buffer))
            .read("w", self.parameter(&weight.range())?)
            .write("y", self.activation(output));
        self.push(kernel, Grid::Items(Count::Each(rows, 1), 1));
        Ok(())
    }

    pub(super) fn rms_norm_grad(
        &mut self,
        input: View,
        output: Buffer,
        weight: Param,
    ) -> Result<(), Error> {
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
            .read("x", self.activation(input.buffer))
            .read("w", self.parameter(&weight.range())?)
            .read("dy", dy)
            .write("dx", self.gradient(input.buffer)?)
            .write("scale", scale);
        self.push(kernel, Grid::Items(Count::Each(rows, 1), 1));

        let kernel = Kernel::new(shader::RMS_NORM_WEIGHT_GRAD)
            .view("X", self.columns(input))
            .read("x", self.activation(input.buffer))
            .read("dy", dy)
            .read("scale", scale);
        self.sum_rows(kernel, rows, self.parameter_gradient(&weight.range())?)
    }
}
