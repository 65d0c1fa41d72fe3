//! The GPU backend: the operations as WGSL, run through wgpu.
//!
//! A program is planned once, without a device ([`shaders`] shows what comes of it): buffers,
//! and dispatches that bind them. [`Gpu`] makes the pipelines and bind groups, and each run
//! encodes the same list again. Everything keeps to wgpu's default limits; a batch that the
//! buffers do not hold is run in parts whose gradients add up. Every sum has a fixed order, so
//! the same batch gives the same bits on the same adapter.
mod device;
mod layout;
mod lower;
mod memory;
mod plan;
mod prober;
mod record;
mod runner;
mod shader;
mod upload;

use kibitzer_core::net::Config;

pub use device::{AdapterDescription, Choice, Device, MemoryLimits, adapters};
pub use prober::Prober;

use self::{
    lower::Plan,
    plan::{Dispatch, Element, SUMMARY},
    runner::{Part, Runner, Settings},
};
use crate::{
    AdamW, Backend, Batch, Error, Losses, OptimizerState, Outputs, initialise,
    program::{Program, View},
};

/// A network with its optimizer on a GPU.
#[derive(Debug)]
pub struct Gpu {
    runner: Runner,
    outputs: (View, View),
    parameters: usize,
    steps: u64,
}

impl Gpu {
    /// A network on an open device, with the initial parameters of a seed and buffers for
    /// `capacity` positions at a time, or fewer if the device's bindings are too small. Batches
    /// may be larger: they are then taken in parts, and their gradients added.
    ///
    /// # Errors
    /// If the configuration is out of range, or the device cannot hold the network.
    pub fn new(device: Device, config: &Config, seed: u64, capacity: usize) -> Result<Gpu, Error> {
        let program = Program::new(config)?;
        let runner = Runner::new(device, &program, capacity)?;
        let outputs = program.outputs().expect("a network has a loss");
        let parameters = initialise(config, seed);
        runner.write_chunks(&parameters, |chunk| chunk.parameters);
        runner.device.wait()?;
        Ok(Gpu { runner, outputs, parameters: parameters.len(), steps: 0 })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.runner.device
    }

    /// Positions of the largest run.
    pub fn capacity(&self) -> usize {
        self.runner.plan.capacity.positions()
    }

    /// Losses and gradient of a checked batch, left on the device.
    fn backpropagate(
        &mut self,
        batch: &Batch,
        hyper: &AdamW,
        weight: f32,
    ) -> Result<Losses, Error> {
        batch.validate()?;
        batch.validate_targets()?;
        let runner = &mut self.runner;
        let runs = upload::runs(batch, runner.plan.capacity)?;
        let settings = Settings::new(batch, hyper, weight, self.steps + 1);
        runner.clear()?;
        for run in runs {
            let sizes = runner.load(batch, run, &settings);
            runner.submit(&[Part::Forward, Part::Loss, Part::Backward], sizes)?;
        }
        runner.submit(&[Part::Norm], runner.plan.capacity)?;
        let summary = runner.read(runner.plan.summary, SUMMARY)?;
        let [policy, value, gradient_norm] = [summary[0], summary[1], summary[2]];
        Ok(Losses { policy, value, total: policy + weight * value, gradient_norm })
    }
}

impl Backend for Gpu {
    fn evaluate(&mut self, batch: &Batch) -> Result<Outputs, Error> {
        batch.validate()?;
        let runner = &mut self.runner;
        let settings = Settings::new(batch, &AdamW::default(), 0.0, 1);
        let mut outputs = Outputs::default();
        let (logits, values) = self.outputs;
        for run in upload::runs(batch, runner.plan.capacity)? {
            let sizes = runner.load(batch, run, &settings);
            runner.submit(&[Part::Forward], sizes)?;
            let logits = runner.plan.activations[logits.buffer.index()];
            let values = runner.plan.activations[values.buffer.index()];
            outputs.logits.extend(runner.read(logits, sizes.legal)?);
            outputs.values.extend(runner.read(values, sizes.positions())?);
        }
        Ok(outputs)
    }

    fn gradient(&mut self, batch: &Batch, value_weight: f32) -> Result<(Losses, Vec<f32>), Error> {
        let losses = self.backpropagate(batch, &AdamW::default(), value_weight)?;
        Ok((losses, self.runner.read_chunks(|chunk| chunk.gradient)?))
    }

    fn step(&mut self, batch: &Batch, hyper: &AdamW, value_weight: f32) -> Result<Losses, Error> {
        hyper.validate()?;
        let losses = self.backpropagate(batch, hyper, value_weight)?;
        let Losses { total: loss, gradient_norm, .. } = losses;
        if !(loss.is_finite() && gradient_norm.is_finite()) {
            return Err(Error::Diverged { loss, gradient_norm });
        }
        self.runner.submit(&[Part::Update], self.runner.plan.capacity)?;
        self.steps += 1;
        Ok(losses)
    }

    fn parameters(&mut self) -> Result<Vec<f32>, Error> {
        self.runner.read_chunks(|chunk| chunk.parameters)
    }

    fn optimizer_state(&mut self) -> Result<OptimizerState, Error> {
        let m = self.runner.read_chunks(|chunk| chunk.first)?;
        let v = self.runner.read_chunks(|chunk| chunk.second)?;
        Ok(OptimizerState { step: self.steps, m, v })
    }

    fn restore(&mut self, parameters: &[f32], state: &OptimizerState) -> Result<(), Error> {
        let (what, expected, found) = ("parameters", self.parameters, parameters.len());
        if found != expected {
            return Err(Error::ParameterCount { what, expected, found });
        }
        state.validate(expected)?;
        self.runner.write_chunks(parameters, |chunk| chunk.parameters);
        self.runner.write_chunks(&state.m, |chunk| chunk.first);
        self.runner.write_chunks(&state.v, |chunk| chunk.second);
        self.steps = state.step;
        self.runner.device.wait()
    }
}

/// A shader as it is given to the device, and how it is bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shader {
    /// The kernel's name, that of its file.
    pub name: &'static str,
    /// The whole WGSL text.
    pub text: String,
    /// The storage buffers' binding numbers, and whether the shader writes them.
    pub bindings: Vec<(u32, bool)>,
}

/// Every shader that a network needs in runs of up to `max_positions`, each once; no device is
/// needed. For validation.
///
/// # Errors
/// If the configuration is out of range or wgpu's default limits do not hold it.
pub fn shaders(config: &Config, max_positions: usize) -> Result<Vec<Shader>, Error> {
    let binding = wgpu::Limits::default().max_storage_buffer_binding_size / Element::F32.bytes();
    let plan = Plan::new(&Program::new(config)?, max_positions, binding as usize)?;
    let parts = [plan.forward, plan.loss, plan.backward, plan.norm, plan.update];
    let mut shaders: Vec<Shader> = vec![];
    for Dispatch { name, text, bindings, .. } in parts.into_iter().flatten() {
        if shaders.iter().all(|shader| shader.text != text) {
            let bindings = bindings.iter().map(|b| (b.number, b.writable)).collect();
            shaders.push(Shader { name, text, bindings });
        }
    }
    Ok(shaders)
}
