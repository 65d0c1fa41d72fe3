//! Convolution and scan over a sequence of one position.
use super::{Lowering, SUM_COLUMNS};
use crate::{
    Error,
    gpu::{
        plan::{Count, Grid, Kernel},
        shader,
    },
    program::{Buffer, Op, Param, View},
};

impl Lowering<'_> {
    pub(super) fn conv(
        &mut self,
        input: View,
        output: Buffer,
        weight: Param,
        bias: Param,
        taps: usize,
    ) -> Result<(), Error> {
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

    pub(super) fn scan(&mut self, op: &Op, output: Buffer) -> Result<(), Error> {
        let (rows, width) = self.info(output);
        let kernel = self.scan_kernel(shader::SCAN_SINGLE, op)?;
        self.elements(kernel.write(self.activation(output)), rows, width);
        Ok(())
    }

    pub(super) fn conv_grad(
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

    pub(super) fn scan_grad(&mut self, op: &Op) -> Result<(), Error> {
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
}
