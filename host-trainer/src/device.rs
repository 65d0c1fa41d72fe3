//! What a network runs on.
use anyhow::Result;
use clap::ValueEnum;
use kibitzer_gpu::{
    Backend, OptimizerState,
    cpu::Cpu,
    gpu::{self, Choice, Gpu, MemoryLimits},
};

use crate::{error::UserError, model::Model};

/// Positions that the processor takes at a time; larger batches are taken in parts, which keeps
/// the buffers in the cache. Part of what decides the last bits of a run.
const CPU_CHUNK: usize = 32;

/// The devices of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Device {
    /// A real GPU if there is one, else the processor.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A real GPU.
    Gpu,
    /// A software adapter: runs the GPU's shaders, slowly.
    Software,
}

impl Device {
    /// A backend with the network `model` and an optimizer that has not stepped yet, for batches
    /// of up to `positions` positions.
    ///
    /// # Errors
    /// [`UserError`] if the device is not there.
    pub fn with_model(self, model: &Model, positions: usize) -> Result<Box<dyn Backend>> {
        self.resume(model, &OptimizerState::new(model.parameters.len()), positions)
    }

    /// As [`Device::with_model`], with the optimizer's memory.
    ///
    /// # Errors
    /// [`UserError`] if the device is not there.
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

    // The initial parameters of a seed are replaced at once by the model's: any seed will do.
    fn open(self, model: &Model, positions: usize) -> Result<Box<dyn Backend>> {
        let choice = match self {
            Device::Auto => Some(Choice::Auto),
            Device::Cpu => None,
            Device::Gpu => Some(Choice::Gpu),
            Device::Software => Some(Choice::Software),
        };
        let gpu = match choice.map(|choice| self.open_gpu(choice, model, positions)) {
            // A GPU that is there but does not work is no reason not to compute.
            Some(Err(error)) if self == Device::Auto => {
                tracing::warn!("{error}");
                None
            }
            Some(opened) => opened?,
            None => None,
        };
        if let Some(gpu) = gpu {
            return Ok(gpu);
        }
        tracing::info!("computing on the processor");
        Ok(Box::new(Cpu::new(&model.config, 0, positions.min(CPU_CHUNK))?))
    }

    fn open_gpu(
        self,
        choice: Choice,
        model: &Model,
        positions: usize,
    ) -> Result<Option<Box<dyn Backend>>> {
        let Some(adapter) = self.adapter(choice)? else { return Ok(None) };
        tracing::info!("computing on {}", adapter.description().name);
        Ok(Some(Box::new(Gpu::new(adapter, &model.config, 0, positions)?)))
    }

    fn adapter(self, choice: Choice) -> Result<Option<gpu::Device>, UserError> {
        gpu::Device::open(choice, MemoryLimits::Adapter).map_err(|error| {
            let text = error.to_string();
            let text = text.strip_prefix("device: ").unwrap_or(&text);
            let (what, mend) = text.split_once("; ").unwrap_or((text, "use --device cpu"));
            let flag = self.to_possible_value().map(|value| value.get_name().to_owned());
            UserError::new(what, format_args!("--device {}", flag.unwrap_or_default()), mend)
        })
    }
}
