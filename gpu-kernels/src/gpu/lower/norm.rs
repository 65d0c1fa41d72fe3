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

/// Invocations of a workgroup, where they are no subgroup.
const TEAM: usize = 64;

impl Lowering<'_> {
    /// A kernel whose workgroups take a row each and add up over its invocations: by a subgroup,
    /// without a barrier, or by workgroup memory.
    fn row_kernel(&self, source: shader::Source) -> Kernel {
        let lanes = self.choices.sharing_lanes();
        let sum = if lanes.is_some() { shader::SUM_LANES } else { shader::SUM64 };
        Kernel::new(source).with(sum).set("TEAM", lanes.unwrap_or(TEAM))
    }

    pub(super) fn rms_norm(
        &mut self,
        input: View,
        output: Buffer,
        weight: Param,
    ) -> Result<(), Error> {
        let (rows, width) = self.info(output);
        let kernel = self
            .row_kernel(shader::RMS_NORM)
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
        let kernel = self
            .row_kernel(shader::RMS_NORM_GRAD)
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
