//! Functions of each element or of pairs of elements: SwiGLU, GELU, tanh.
use super::Lowering;
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
        let kernel = self.input(with_function(Kernel::new(source), function), "x", input);
        self.elements(kernel.write("y", self.activation(output)), rows, width)
    }

    pub(super) fn mapped_grad(
        &mut self,
        source: shader::Source,
        function: Option<Pointwise>,
        input: View,
        output: Buffer,
    ) -> Result<(), Error> {
        let (rows, width) = self.info(output);
        let kernel = self
            .input(with_function(Kernel::new(source), function), "x", input)
            .read("dy", self.gradient(output)?);
        let kernel = self.input_gradient(kernel, "x", input)?;
        self.elements(kernel, rows, width)
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
