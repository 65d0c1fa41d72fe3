//! After the backward pass: the gradient's norm, the optimizer, the parameters' average.
use super::{ELEMENTS, Lowering, NORM_GROUPS, Scratch};
use crate::gpu::{
    device::Precision,
    plan::{Count, Grid, Kernel, Slice},
    shader,
};

/// Steps without overflow after which the loss scale doubles, and where it stops.
const GROWTH_INTERVAL: usize = 2000;
const MOST_SCALE: f32 = 16_777_216.0;

impl Lowering<'_> {
    /// Appends the gradient's norm.
    pub(super) fn norm(&mut self) {
        let chunks = self.allocation.chunks.clone();
        let partial = self.scratch(Scratch::Partial, chunks.len() * NORM_GROUPS);
        for (i, chunk) in chunks.iter().enumerate() {
            let kernel = Kernel::new(shader::SQUARE_NORM)
                .with(shader::SUM256)
                .set("LEN", chunk.gradient.len)
                .set("GROUPS", NORM_GROUPS)
                .set("FIRST", i * NORM_GROUPS)
                .read("x", chunk.gradient)
                .write("partial", partial);
            self.push(kernel, Grid::Items(Count::Fixed(NORM_GROUPS), 1));
        }
        let kernel = Kernel::new(shader::NORM)
            .with(shader::SUM256)
            .with(shader::SUMMARY)
            .set("LEN", partial.len)
            .read("partial", partial)
            .read("control", self.allocation.control)
            .write("summary", self.allocation.summary);
        self.push(kernel, Grid::Items(Count::Fixed(1), 1));
    }

    /// Appends the decision about the step, and the optimizer.
    pub(super) fn update(&mut self) {
        let kernel = Kernel::new(shader::DECIDE)
            .with(shader::SUMMARY)
            .set("SCALES", self.precision == Precision::F16)
            .set("GROWTH_INTERVAL", GROWTH_INTERVAL)
            .set("MOST_SCALE", MOST_SCALE)
            .write("summary", self.allocation.summary)
            .write("control", self.allocation.control);
        self.push(kernel, Grid::Items(Count::Fixed(1), 1));
        for chunk in self.allocation.chunks.clone() {
            let Slice { len, .. } = chunk.parameters;
            let kernel = Kernel::new(shader::ADAMW)
                .with(shader::SUMMARY)
                .set("LEN", len)
                .read("summary", self.allocation.summary)
                .read("gradient", chunk.gradient)
                .write("parameters", chunk.parameters)
                .write("first", chunk.first)
                .write("second", chunk.second);
            self.push(kernel, Grid::Items(Count::Fixed(len), ELEMENTS));
        }
    }

    /// Appends the step of the parameters' running average.
    pub(super) fn average(&mut self) {
        for chunk in self.allocation.chunks.clone() {
            let Slice { len, .. } = chunk.parameters;
            let kernel = Kernel::new(shader::AVERAGE)
                .set("LEN", len)
                .read("parameters", chunk.parameters)
                .write("average", chunk.average);
            self.push(kernel, Grid::Items(Count::Fixed(len), ELEMENTS));
        }
    }
}
