//! What a network runs on.
use anyhow::Result;
use clap::ValueEnum;
use kibitzer_gpu::{Backend, Error, OptimizerState, cpu::Cpu};

use crate::model::Model;

/// Positions that the processor takes at a time; larger batches are taken in parts, which keeps
/// the buffers in the cache.
const CPU_CHUNK: usize = 32;

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
        match self {
            Device::Cpu | Device::Auto => {
                let cpu = Cpu::new(&model.config, 0, positions.min(CPU_CHUNK))?;
                Ok(Box::new(cpu))
            }
        }
    }
}
