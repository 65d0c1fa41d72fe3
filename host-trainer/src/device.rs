//! What a network runs on.
use anyhow::Result;
use clap::ValueEnum;
use kibitzer_gpu::{Backend, Error, OptimizerState};

use crate::model::Model;

/// The devices of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Device {
    /// The processor.
    Cpu,
    /// A real GPU if there is one, else the processor.
    #[default]
    Auto,
}

impl Device {
    /// A backend with the network `model` and an optimizer that has not stepped yet, for batches
    /// of up to `positions` positions.
    ///
    /// # Errors
    /// [`crate::error::UserError`] if the device is not there.
    pub fn with_model(self, model: &Model, positions: usize) -> Result<Box<dyn Backend>> {
        self.resume(model, &OptimizerState::new(model.parameters.len()), positions)
    }

    /// As [`Device::with_model`], with the optimizer's memory.
    ///
    /// # Errors
    /// [`crate::error::UserError`] if the device is not there.
    pub fn resume(
        self,
        model: &Model,
        state: &OptimizerState,
        positions: usize,
    ) -> Result<Box<dyn Backend>> {
        let mut backend = self.open(model, positions)?;
        backend.restore(&model.parameters, state)?;
        Ok(backend)
    }

    fn open(self, model: &Model, positions: usize) -> Result<Box<dyn Backend>, Error> {
        // The processor's backend is not in this crate's dependencies yet.
        let wanted = format!("{self:?} for {positions} positions of width {}", model.config.width);
        Err(Error::Device(format!("no backend is built in: {wanted}")))
    }
}
