//! A network that answers: whatever the file, one way to ask.
use std::path::Path;

use anyhow::Result;
use kibitzer_core::net::Config;
use kibitzer_gpu::{Backend, Batch, Outputs};

use crate::{device::Device, model::Model};

/// Answers batches, in floating point or in integers.
pub trait Evaluate {
    /// Logits of the legal entries and values of the positions.
    ///
    /// # Errors
    /// If the batch is malformed or the device fails.
    fn evaluate(&mut self, batch: &Batch) -> Result<Outputs>;
}

impl Evaluate for Box<dyn Backend> {
    fn evaluate(&mut self, batch: &Batch) -> Result<Outputs> {
        Ok(self.as_mut().evaluate(batch)?)
    }
}

/// An evaluator with its configuration.
pub struct Network {
    /// The architecture.
    pub config: Config,
    /// What answers.
    pub evaluator: Box<dyn Evaluate>,
}

impl Network {
    /// Opens `path` (see [`Model::load`]) on `device`, for batches of up to `positions` positions.
    ///
    /// # Errors
    /// [`crate::error::UserError`] if the file is no network or the device is missing.
    pub fn open(path: &Path, device: Device, positions: usize) -> Result<Network> {
        let model = Model::load(path)?;
        let backend = device.with_model(&model, positions)?;
        Ok(Network { config: model.config, evaluator: Box::new(backend) })
    }
}
