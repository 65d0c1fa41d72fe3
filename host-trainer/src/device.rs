//! What a network runs on.
use anyhow::Result;
use clap::ValueEnum;
use kibitzer_core::net::Config;
use kibitzer_gpu::{
    Backend, MemoryPlan, OptimizerState,
    cpu::Cpu,
    gpu::{self, Choice, Gpu, MemoryLimits},
};
use serde::{Deserialize, Serialize};

use crate::{
    error::{OUT_OF_MEMORY, UserError, of_backend},
    host_memory,
    model::Model,
    tuning,
};

/// Positions that the processor takes at a time; larger batches are taken in parts, which keeps
/// the buffers in the cache. Part of what decides the last bits of a run.
const CPU_CHUNK: usize = 32;

/// The devices of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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

/// How activations and their gradients are stored; all else is f32, and so is all arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// In 32 bits.
    #[default]
    F32,
    /// In 16 bits, with the loss scaled.
    F16,
}

impl Precision {
    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F32 => "f32",
            Precision::F16 => "f16",
        }
    }
}

impl From<Precision> for gpu::Precision {
    fn from(precision: Precision) -> gpu::Precision {
        match precision {
            Precision::F32 => gpu::Precision::F32,
            Precision::F16 => gpu::Precision::F16,
        }
    }
}

/// A backend and what it computes on.
pub struct Opened {
    /// The backend.
    pub backend: Box<dyn Backend>,
    /// What it computes on: never [`Device::Auto`].
    pub device: Device,
    /// The adapter with its driver; none for the processor.
    pub adapter: Option<String>,
}

/// What a backend is opened for.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    Evaluation,
    Training { average: bool },
}

/// The initial parameters are replaced at once by a model's: any seed will do.
const SEED: u64 = 0;

impl Purpose {
    fn on_gpu(
        self,
        adapter: gpu::Device,
        config: &Config,
        positions: usize,
    ) -> Result<Gpu, kibitzer_gpu::Error> {
        match self {
            Purpose::Evaluation => Gpu::for_evaluation(adapter, config, positions),
            Purpose::Training { average: false } => Gpu::new(adapter, config, SEED, positions),
            Purpose::Training { average: true } => Gpu::averaging(adapter, config, SEED, positions),
        }
    }

    fn on_cpu(self, config: &Config, positions: usize) -> Result<Cpu> {
        let cpu = match self {
            Purpose::Evaluation => {
                host_memory::require(Cpu::evaluation_plan(config, positions)?.total())?;
                Cpu::for_evaluation(config, positions)
            }
            Purpose::Training { average } => {
                let plan = Cpu::plan(config, positions, average)?;
                // A checkpoint is saved from copies.
                host_memory::require(plan.total() + plan.parameters + plan.optimizer)?;
                Cpu::new(config, SEED, positions)
            }
        };
        cpu.map_err(|error| of_backend(error.into()))
    }
}

impl Device {
    /// A backend that evaluates the network `model` for up to `positions` positions at a time.
    ///
    /// # Errors
    /// [`UserError`] if the device is not there or does not hold the network.
    pub fn evaluator(self, model: &Model, positions: usize) -> Result<Box<dyn Backend>> {
        let mut opened = self.open(model, positions, Precision::F32, Purpose::Evaluation)?;
        let state = OptimizerState::new(model.parameters.len());
        opened.backend.restore(&model.parameters, &state)?;
        Ok(opened.backend)
    }

    /// A backend that trains the network `model`, with the optimizer's memory, for batches of up
    /// to `positions` positions at a time, and with room for an average of the weights where one
    /// is wanted.
    ///
    /// # Errors
    /// [`UserError`] if the device is not there or does not hold the network.
    pub fn trainer(
        self,
        model: &Model,
        state: &OptimizerState,
        positions: usize,
        precision: Precision,
        average: bool,
    ) -> Result<Opened> {
        let mut opened = self.open(model, positions, precision, Purpose::Training { average })?;
        opened.backend.restore(&model.parameters, state)?;
        Ok(opened)
    }

    /// What [`Device::trainer`] would keep in memory, with an average of the weights or without;
    /// nothing is allocated.
    ///
    /// # Errors
    /// As [`Device::trainer`].
    pub fn plan(
        self,
        config: &Config,
        positions: usize,
        precision: Precision,
        average: bool,
    ) -> Result<MemoryPlan> {
        if let Some(adapter) = self.tuned_adapter(precision)? {
            let plan = Gpu::plan(&adapter, config, positions, average);
            return Ok(plan.map_err(|error| self.refuse(&error))?);
        }
        Ok(Cpu::plan(config, positions.min(CPU_CHUNK), average)?)
    }

    fn open(
        self,
        model: &Model,
        positions: usize,
        precision: Precision,
        purpose: Purpose,
    ) -> Result<Opened> {
        let gpu = match self.open_gpu(model, positions, precision, purpose) {
            // A GPU that is there but does not work is no reason not to compute.
            Err(error) if self == Device::Auto => {
                tracing::warn!("{error}");
                None
            }
            opened => opened?,
        };
        if let Some(gpu) = gpu {
            return Ok(gpu);
        }
        if precision != Precision::F32 {
            let what = format!("the processor has no {}", precision.name());
            return Err(UserError::new(what, "--precision", "leave it out").into());
        }
        tracing::info!("computing on the processor");
        let backend = Box::new(purpose.on_cpu(&model.config, positions.min(CPU_CHUNK))?);
        Ok(Opened { backend, device: Device::Cpu, adapter: None })
    }

    fn open_gpu(
        self,
        model: &Model,
        positions: usize,
        precision: Precision,
        purpose: Purpose,
    ) -> Result<Option<Opened>> {
        let Some(adapter) = self.tuned_adapter(precision)? else { return Ok(None) };
        let found = adapter.description();
        tracing::info!("computing on {}", found.name);
        let name = format!("{} ({}, {})", found.name, found.backend, found.driver);
        let device = if found.software { Device::Software } else { Device::Gpu };
        let mut first = Some(adapter);
        let opened = halving(positions, |positions| {
            // A device that ran out of memory is of no more use.
            let adapter =
                first.take().map_or_else(|| self.tuned_adapter(precision), |a| Ok(Some(a)));
            let adapter = adapter?.expect("it was there before");
            Ok(purpose.on_gpu(adapter, &model.config, positions))
        })?;
        let backend = Box::new(opened.map_err(|error| self.refuse(&error))?);
        Ok(Some(Opened { backend, device, adapter: Some(name) }))
    }

    /// The adapter with its precision and its choices; `None` if that is the processor.
    fn tuned_adapter(self, precision: Precision) -> Result<Option<gpu::Device>> {
        let Some(adapter) = self.adapter()? else { return Ok(None) };
        let adapter = adapter.with_precision(precision.into()).map_err(|e| self.refuse(&e))?;
        tuning::with_choices(adapter).map(Some)
    }

    /// The adapter to compute on, opened; `None` if that is the processor.
    ///
    /// # Errors
    /// [`UserError`] if the device is not there.
    pub fn adapter(self) -> Result<Option<gpu::Device>, UserError> {
        let choice = match self {
            Device::Auto => Choice::Auto,
            Device::Cpu => return Ok(None),
            Device::Gpu => Choice::Gpu,
            Device::Software => Choice::Software,
        };
        gpu::Device::open(choice, MemoryLimits::Adapter).map_err(|error| self.refuse(&error))
    }

    /// A device that is not there or cannot hold the network.
    fn refuse(self, error: &kibitzer_gpu::Error) -> UserError {
        if *error == kibitzer_gpu::Error::OutOfMemory {
            let place = format!("--device {}", self.name());
            return UserError::new("out of memory", place, OUT_OF_MEMORY);
        }
        let text = error.to_string();
        let text = text.strip_prefix("device: ").unwrap_or(&text);
        let (what, mend) = text.split_once("; ").unwrap_or((text, "use --device cpu"));
        UserError::new(what, format_args!("--device {}", self.name()), mend)
    }

    /// As it is written on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// What `open` makes of so many positions, or of half as many for as long as memory runs out.
fn halving<T>(
    mut positions: usize,
    mut open: impl FnMut(usize) -> Result<Result<T, kibitzer_gpu::Error>>,
) -> Result<Result<T, kibitzer_gpu::Error>> {
    loop {
        let opened = open(positions)?;
        if !matches!(opened, Err(kibitzer_gpu::Error::OutOfMemory)) || positions == 1 {
            return Ok(opened);
        }
        positions = positions.div_ceil(2);
        tracing::warn!("out of memory: trying {positions} positions at a time");
    }
}

#[cfg(test)]
mod tests {
    use kibitzer_gpu::Error;

    use super::*;

    #[test]
    fn memory_that_runs_out_is_asked_for_less() {
        let with = |most: usize| {
            let mut asked = vec![];
            let opened = halving(100, |positions| {
                asked.push(positions);
                Ok(if positions > most { Err(Error::OutOfMemory) } else { Ok(positions) })
            });
            (opened.unwrap(), asked)
        };
        assert_eq!(with(200), (Ok(100), vec![100]));
        assert_eq!(with(30), (Ok(25), vec![100, 50, 25]));
        assert_eq!(with(0), (Err(Error::OutOfMemory), vec![100, 50, 25, 13, 7, 4, 2, 1]));
        let broken = || halving(8, |_| Ok(Err::<(), _>(Error::Device("lost".into()))));
        assert_eq!(broken().unwrap(), Err(Error::Device("lost".into())));
    }
}
