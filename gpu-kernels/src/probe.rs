use crate::{Batch, Error, program::Buffer, program::Program};

/// One forward and one backward pass of any program, with everything in between to be seen.
/// The tests compare backends by it and check gradients by finite differences.
#[derive(Debug, Clone, Copy)]
pub struct Probe<'a> {
    /// The program; it need not be a whole network.
    pub program: &'a Program,
    /// Sizes, tokens, scalars, legal entries and, where there is a loss, targets.
    pub batch: &'a Batch,
    /// The parameters that the program reads.
    pub parameters: &'a [f32],
    /// Contents of the buffers that no operation writes.
    pub inputs: &'a [(Buffer, &'a [f32])],
    /// Gradients of the buffers that no operation reads; 0 where none is given.
    pub output_gradients: &'a [(Buffer, &'a [f32])],
    /// Weight of the value in the loss.
    pub value_weight: f32,
}

/// What a [`Probe`] saw.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Probed {
    /// Each buffer's contents after the forward pass.
    pub activations: Vec<Vec<f32>>,
    /// Each of [`Probe::inputs`]'s gradient after the backward pass.
    pub input_gradients: Vec<Vec<f32>>,
    /// The gradient of the parameters.
    pub parameter_gradient: Vec<f32>,
}

/// A backend that can be probed.
pub trait Probing {
    /// Runs the probe.
    ///
    /// # Errors
    /// If the batch is malformed or the device fails.
    fn probe(&mut self, probe: &Probe<'_>) -> Result<Probed, Error>;
}
