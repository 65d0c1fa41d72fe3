use crate::{AdamW, Batch, Error, MemoryPlan, OptimizerState};

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
    /// Whether the gradient overflowed 16-bit floats, so that the step was skipped; the norm is
    /// then infinite or not a number, and perhaps the losses too. It happens now and then while
    /// the loss scale is found.
    pub skipped: bool,
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

    /// Starts a step of the optimizer on one batch; [`Backend::losses`] tells what it came to. A
    /// device may still be at work on it, and on a few steps before it, when this returns.
    ///
    /// # Errors
    /// If the batch is malformed or lacks targets, a hyperparameter is out of range, or the
    /// device fails; [`Error::Diverged`] as for [`Backend::losses`] if so many steps are under way
    /// that the oldest has to be waited for.
    fn submit(&mut self, batch: &Batch, hyper: &AdamW, value_weight: f32) -> Result<(), Error>;

    /// The losses of the oldest step that has not been told yet, once more than `under_way` are
    /// in that state; waits for it. Losses are those before the step.
    ///
    /// # Errors
    /// [`Error::Diverged`] if the step's loss or gradient is not finite. Parameters and
    /// optimizer are then those from before it: steps submitted later were not taken, and are
    /// forgotten. If the device fails.
    fn losses(&mut self, under_way: usize) -> Result<Option<Losses>, Error>;

    /// One step of the optimizer on one batch, waited for; the losses of steps before it that
    /// have not been told are lost. The losses are those before the step.
    ///
    /// # Errors
    /// As [`Backend::submit`] and [`Backend::losses`].
    fn step(&mut self, batch: &Batch, hyper: &AdamW, value_weight: f32) -> Result<Losses, Error> {
        self.submit(batch, hyper, value_weight)?;
        let mut last = Losses::default();
        while let Some(losses) = self.losses(0)? {
            last = losses;
        }
        Ok(last)
    }

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

    /// Moves the running average of the parameters towards them: `a += weight · (p − a)`. It is
    /// zero before the first call.
    ///
    /// With weight (1−d)/(1−dᵗ) in call t (from 1), the average is the exponential moving average
    /// with decay d without a bias towards where it started: parameters i calls ago count in
    /// proportion to dⁱ.
    ///
    /// # Errors
    /// If the device fails, or has no memory for an average because none was asked for.
    fn average(&mut self, weight: f32) -> Result<(), Error>;

    /// The running average of the parameters.
    ///
    /// # Errors
    /// If the device fails.
    fn averaged(&mut self) -> Result<Vec<f32>, Error>;

    /// Replaces the running average.
    ///
    /// # Errors
    /// If its length is not the number of parameters, or the device fails.
    fn restore_average(&mut self, average: &[f32]) -> Result<(), Error>;

    /// Replaces the parameters and the optimizer's memory; the running average stays, and
    /// losses not yet told are lost.
    ///
    /// # Errors
    /// If a vector's length is not the number of parameters, or the device fails.
    fn restore(&mut self, parameters: &[f32], state: &OptimizerState) -> Result<(), Error>;

    /// What it keeps in memory.
    fn memory(&self) -> MemoryPlan;
}
