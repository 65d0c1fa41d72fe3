//! Convolution and scan along sequences.
use super::{Lowering, Scratch, align};
use crate::{
    Error,
    gpu::{
        plan::{Columns, Count, Grid, Kernel, Slice},
        shader,
    },
    program::{Buffer, Op, Param, Rows, View},
};

/// Channels of a workgroup that scans.
const CHANNELS: usize = 64;
/// Workgroups that the scan's backward pass is split for.
const WANTED_SCANS: usize = 512;

/// What the scan's backward pass keeps in its scratch memory; `scan_grad.wgsl` says why.
///
/// The states of one channel at one position depend on those before, so going back needs them
/// all. They are recomputed and kept for the one scan at hand: N · S · I elements for the whole
/// network, where keeping them from the forward pass would take as many for each block, and
/// recomputing them from a few kept ones would need registers for S states times the distance.
/// At length 1 nothing is kept.
struct ScanScratch {
    blocks: usize,
    splits: usize,
    /// Where each part starts, and the end of the last.
    bc: usize,
    parameters: usize,
    len: usize,
}

impl ScanScratch {
    fn new(positions: usize, width: usize, states: usize) -> ScanScratch {
        let blocks = width.div_ceil(CHANNELS);
        let splits = (WANTED_SCANS / blocks).clamp(1, positions);
        let bc = align(positions * states * width);
        let parameters = bc + align(positions * blocks * 2 * states);
        let len = parameters + splits * width * (states + 1);
        ScanScratch { blocks, splits, bc, parameters, len }
    }
}

/// Elements of scratch memory that a scan needs for runs of so many positions.
pub(super) fn scan_scratch(op: &Op, positions: usize) -> usize {
    match op {
        Op::Scan { u, states, .. } => ScanScratch::new(positions, u.width, *states).len,
        _ => 0,
    }
}

impl Lowering<'_> {
    pub(super) fn conv(
        &mut self,
        input: View,
        output: Buffer,
        weight: Param,
        bias: Param,
        taps: usize,
    ) -> Result<(), Error> {
        let kernel = self.conv_kernel(shader::CONV, input, weight, bias, taps)?;
        let (rows, width) = self.info(output);
        self.elements(kernel.write("y", self.activation(output)), rows, width)
    }

    /// A kernel that finds the convolution's sums before the nonlinearity.
    fn conv_kernel(
        &self,
        source: shader::Source,
        input: View,
        weight: Param,
        bias: Param,
        taps: usize,
    ) -> Result<Kernel, Error> {
        let kernel = Kernel::new(source).with(shader::CONV_COMMON).set("TAPS", taps);
        Ok(self
            .input(kernel, "x", input)
            .read("w", self.parameter(&weight.range())?)
            .read("b", self.parameter(&bias.range())?))
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
        let slopes = self.gradient(output)?;
        let kernel = self.conv_kernel(shader::CONV_SLOPE, input, weight, bias, taps)?;
        self.elements(kernel.write("dy", slopes), rows, width)?;

        let kernel = Kernel::new(shader::CONV_GRAD)
            .set("TAPS", taps)
            .read("w", self.parameter(&weight.range())?)
            .read("da", slopes);
        let kernel = self.input_gradient(kernel, "x", input)?;
        self.elements(kernel, rows, width)?;

        let kernel = Kernel::new(shader::CONV_WEIGHT_GRAD).set("TAPS", taps).read("da", slopes);
        let kernel = self.input(kernel, "x", input);
        self.sum_rows(kernel, rows, self.parameter_gradient(&weight.range())?)?;
        let gradient = self.parameter_gradient(&bias.range())?;
        self.column_sum((slopes, Columns::dense(width)), rows, gradient)
    }

    /// A kernel of the scan with what all of them read.
    fn scan_kernel(&self, source: shader::Source, op: &Op) -> Result<Kernel, Error> {
        let Op::Scan { u, step, bc, output, states, .. } = *op else {
            return Err(Error::Device("only a scan has a scan's kernels".to_owned()));
        };
        let parameters = self.parameter(&op.parameters()[0])?;
        let kernel = Kernel::new(source)
            .with(shader::SCAN_COMMON)
            .set("STATES", states)
            .set("WIDTH", self.info(output).1)
            .read("rates", parameters);
        let kernel = self.input(kernel, "u", u);
        let kernel = self.input(kernel, "step_size", step);
        Ok(self.input(kernel, "bc", bc))
    }

    /// The same for those that take the states along the sequence.
    fn advancing_kernel(
        &self,
        source: shader::Source,
        op: &Op,
        z: View,
    ) -> Result<(Kernel, Grid), Error> {
        let kernel = self.scan_kernel(source, op)?.with(shader::SCAN_ADVANCE);
        let channels = Count::Sequences(z.width);
        Ok((self.input(kernel, "z", z), Grid::Items(channels, CHANNELS)))
    }

    pub(super) fn scan(&mut self, op: &Op, z: View, output: Buffer) -> Result<(), Error> {
        let (kernel, grid) = self.advancing_kernel(shader::SCAN, op, z)?;
        self.push(kernel.write("y", self.activation(output)), grid);
        Ok(())
    }

    pub(super) fn scan_grad(&mut self, op: &Op) -> Result<(), Error> {
        let Op::Scan { u, step, bc, z, output, states, .. } = *op else {
            return Err(Error::Device("only a scan has a scan's kernels".to_owned()));
        };
        let (_, width) = self.info(output);
        let shape = ScanScratch::new(self.most_rows(Rows::Position), width, states);
        let scratch = self.scratch(Scratch::Partial, shape.len);
        let part = |first, len| Slice { first, len, ..scratch };
        let slopes = self.gradient(output)?;

        let (kernel, grid) = self.advancing_kernel(shader::SCAN_GATE_GRAD, op, z)?;
        let kernel = self.input_gradient(kernel, "z", z)?;
        self.push(kernel.write("dy", slopes).write("history", part(0, shape.bc)), grid);

        let kernel = self
            .scan_kernel(shader::SCAN_GRAD, op)?
            .set("SPLITS", shape.splits)
            .set("BC_AT", shape.bc)
            .set("PARAMETERS_AT", shape.parameters)
            .read("dg", slopes)
            .write("scratch", scratch);
        let kernel = self.input_gradient(kernel, "u", u)?;
        let kernel = self.input_gradient(kernel, "step_size", step)?;
        self.push(kernel, Grid::Items(Count::Fixed(shape.blocks * shape.splits), 1));

        let sums = part(shape.bc, shape.parameters - shape.bc);
        let gradient = (self.gradient(bc.buffer)?, self.columns(bc));
        let terms = (sums, Columns::dense(bc.width));
        self.sum_groups(terms, shape.blocks, gradient, bc.width, 1.0, bc.accumulate)?;
        let sums = part(shape.parameters, shape.len - shape.parameters);
        self.reduce(sums, self.parameter_gradient(&op.parameters()[0])?, shape.splits);
        Ok(())
    }
}
