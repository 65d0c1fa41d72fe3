use crate::{AdamW, Batch, Error, OptimizerState};

/// The network's answers for a batch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outputs {
    /// Logit of each legal entry, in the batch's order.
    pub logits: Vec<f32>,
    /// Value of each position, from −1 to 1.
    pub values: Vec<f32>,
}

/// What a batch costs, as means over its positions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Losses {
    /// Cross-entropy of the policy over the legal moves, in nats.
    pub policy: f32,
    /// Squared error of the value.
    pub value: f32,
    /// `policy + value_weight · value`: what the gradient is of.
    pub total: f32,
    /// Euclidean norm of the whole gradient, before clipping.
    pub gradient_norm: f32,
}

/// A network with its optimizer on some device.
///
/// Flat vectors are in the order of [`kibitzer_core::net::tensors`].
pub trait Backend {
    /// Runs the network. The batch's targets may be empty.
    ///
    /// # Errors
    /// If the batch is malformed or the device fails.
    fn evaluate(&mut self, batch: &Batch) -> Result<Outputs, Error>;

    /// The losses of a batch and their gradient for every parameter; changes nothing.
    ///
    /// # Errors
    /// If the batch is malformed, lacks targets, or the device fails.
    fn gradient(&mut self, batch: &Batch, value_weight: f32) -> Result<(Losses, Vec<f32>), Error>;

    /// One step of the optimizer on one batch. The losses are those before the step.
    ///
    /// # Errors
    /// If the batch is malformed or lacks targets, a hyperparameter is out of range, the loss is
    /// not finite, or the device fails. The parameters are then those from before the step.
    fn step(&mut self, batch: &Batch, hyper: &AdamW, value_weight: f32) -> Result<Losses, Error>;

    /// All parameters.
    ///
    /// # Errors
    /// If the device fails.
    fn parameters(&mut self) -> Result<Vec<f32>, Error>;

    /// The optimizer's memory.
    ///
    /// # Errors
    /// If the device fails.
    fn optimizer_state(&mut self) -> Result<OptimizerState, Error>;

    /// Replaces the parameters and the optimizer's memory.
    ///
    /// # Errors
    /// If a vector's length is not the number of parameters, or the device fails.
    fn restore(&mut self, parameters: &[f32], state: &OptimizerState) -> Result<(), Error>;
}
