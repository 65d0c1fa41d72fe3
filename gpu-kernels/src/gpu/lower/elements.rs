//! Functions of each element or of pairs of elements: SwiGLU, GELU, tanh.
use super::{Lowering, per_position};
use crate::{
    Error,
    gpu::{plan::Kernel, shader},
    program::{Buffer, Pointwise, View},
};

impl Lowering<'_> {
    /// An operation from each row of its input to the same row of its output.
    pub(super) fn mapped(
        &mut self,
        source: shader::Source,
        function: Option<Pointwise>,
        input: View,
        output: Buffer,
    ) -> Result<(), Error> {
        let (rows, width) = self.info(output);
        let kernel = with_function(Kernel::new(source), function)
            .set("ROWS", per_position(rows)?)
            .view("X", self.columns(input))
            .read(self.activation(input.buffer))
            .write(self.activation(output));
        self.elements(kernel, rows, width);
        Ok(())
    }

    pub(super) fn mapped_grad(
        &mut self,
        source: shader::Source,
        function: Option<Pointwise>,
        input: View,
        output: Buffer,
    ) -> Result<(), Error> {
        let (rows, width) = self.info(output);
        let kernel = with_function(Kernel::new(source), function)
            .set("ROWS", per_position(rows)?)
            .set("X_ADDS", input.accumulate)
            .view("X", self.columns(input))
            .read(self.activation(input.buffer))
            .read(self.gradient(output)?)
            .write(self.gradient(input.buffer)?);
        self.elements(kernel, rows, width);
        Ok(())
    }
}

/// Adds the text of a pointwise function.
fn with_function(kernel: Kernel, function: Option<Pointwise>) -> Kernel {
    match function {
        Some(Pointwise::Gelu) => kernel.with(shader::GELU),
        Some(Pointwise::Tanh) => kernel.with(shader::TANH),
        None => kernel,
    }
}
