//! The GPU backend: the operations as WGSL, run through wgpu.
//!
//! A program is planned once, without a device ([`shaders`] shows what comes of it): buffers,
//! and dispatches that bind them. [`Gpu`] makes the pipelines and bind groups, and each run
//! encodes the same list again. Everything keeps to wgpu's default limits; a batch that the
//! buffers do not hold is run in parts whose gradients add up. Every sum has a fixed order, so
//! the same batch gives the same bits on the same adapter. Whether a step is taken is decided on
//! the device, and its losses come back while later ones run: no step waits for the host.
mod allocation;
pub mod bench;
mod device;
pub mod gemm;
mod layout;
mod lower;
mod memory;
mod plan;
mod prober;
mod record;
mod reports;
mod runner;
mod shader;
mod trusted;
mod upload;

use std::collections::VecDeque;

use kibitzer_core::net::Config;

pub use device::{AdapterDescription, Choice, Device, MemoryLimits, Precision, adapters};
pub use prober::Prober;

use self::{
    allocation::Purpose,
    gemm::Choices,
    lower::Plan,
    plan::{Dispatch, Element, SUMMARY},
    reports::{Outcome, Reports, Summary},
    runner::{Control, Part, Runner, Settings},
};
use crate::{
    AdamW, Backend, Batch, Error, LossScale, Losses, MemoryPlan, OptimizerState, Outputs,
    initialise,
    program::{Program, View},
};

/// A network with its optimizer on a GPU.
#[derive(Debug)]
pub struct Gpu {
    runner: Runner,
    outputs: (View, View),
    parameters: usize,
    purpose: Purpose,
    reports: Reports,
    /// Losses that had to be read before they were asked for.
    untold: VecDeque<Losses>,
}

impl Gpu {
    /// A network on an open device, with the initial parameters of a seed and buffers for
    /// `capacity` positions at a time, or fewer if the device's bindings are too small. Batches
    /// may be larger: they are then taken in parts of whole sequences, and their gradients added.
    /// An average of the parameters is refused.
    ///
    /// # Errors
    /// If the configuration is out of range, or the device cannot hold the network.
    pub fn new(device: Device, config: &Config, seed: u64, capacity: usize) -> Result<Gpu, Error> {
        Gpu::initial(device, config, seed, capacity, false)
    }

    /// [`Gpu::new`] that has memory for a running average of the parameters, too.
    ///
    /// # Errors
    /// As [`Gpu::new`].
    pub fn averaging(
        device: Device,
        config: &Config,
        seed: u64,
        capacity: usize,
    ) -> Result<Gpu, Error> {
        Gpu::initial(device, config, seed, capacity, true)
    }

    fn initial(
        device: Device,
        config: &Config,
        seed: u64,
        capacity: usize,
        average: bool,
    ) -> Result<Gpu, Error> {
        let gpu = Gpu::open(device, config, capacity, Purpose::Training { average })?;
        gpu.runner.write_chunks(&initialise(config, seed), |chunk| chunk.parameters);
        gpu.runner.set_control(Control { steps: 0, loss_scale: gpu.scale(None) });
        gpu.runner.device.wait()?;
        Ok(gpu)
    }

    /// What [`Gpu::new`], or [`Gpu::averaging`] with an `average`, would keep in memory; nothing is
    /// allocated.
    ///
    /// # Errors
    /// As [`Gpu::new`].
    pub fn plan(
        device: &Device,
        config: &Config,
        capacity: usize,
        average: bool,
    ) -> Result<MemoryPlan, Error> {
        let program = Program::new(config)?;
        Ok(runner::planned(device, &program, capacity, Purpose::Training { average })?.memory)
    }

    /// A network that is only evaluated, in a small part of the memory. Its parameters are
    /// zeros until they are restored; gradients and steps are refused.
    ///
    /// # Errors
    /// As [`Gpu::new`].
    pub fn for_evaluation(device: Device, config: &Config, capacity: usize) -> Result<Gpu, Error> {
        Gpu::open(device, config, capacity, Purpose::Evaluation)
    }

    fn open(
        device: Device,
        config: &Config,
        capacity: usize,
        purpose: Purpose,
    ) -> Result<Gpu, Error> {
        let program = Program::new(config)?;
        Ok(Gpu {
            outputs: program.outputs().expect("a network has a loss"),
            parameters: program.parameters,
            purpose,
            reports: Reports::new(&device),
            untold: VecDeque::new(),
            runner: Runner::new(device, &program, capacity, purpose)?,
        })
    }

    /// Refuses what an evaluated network cannot do.
    fn trains(&self) -> Result<(), Error> {
        match self.purpose {
            Purpose::Training { .. } => Ok(()),
            Purpose::Evaluation => {
                Err(Error::Device("the network was opened for evaluation only".to_owned()))
            }
        }
    }

    /// Refuses what needs an average.
    fn averages(&self) -> Result<(), Error> {
        self.trains()?;
        if self.purpose == (Purpose::Training { average: false }) {
            return Err(Error::Device("the network was opened without an average".to_owned()));
        }
        Ok(())
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.runner.device
    }

    /// Positions of the largest run.
    pub fn capacity(&self) -> usize {
        self.runner.plan.capacity.positions()
    }

    /// The loss scale to go on with.
    fn scale(&self, saved: Option<LossScale>) -> LossScale {
        match self.device().precision() {
            Precision::F32 => LossScale { scale: 1.0, good_steps: 0 },
            Precision::F16 => saved.unwrap_or_default(),
        }
    }

    /// Starts the forward and backward pass of a batch, and after them `finally`. The losses come
    /// back with `reports`, if it is asked to.
    fn start(
        &mut self,
        batch: &Batch,
        hyper: &AdamW,
        weight: f32,
        finally: &[Part],
        reported: bool,
    ) -> Result<(), Error> {
        self.trains()?;
        batch.validate()?;
        batch.validate_targets()?;
        let runner = &mut self.runner;
        let mut runs = upload::runs(batch, runner.plan.capacity)?.into_iter().peekable();
        let settings = Settings::new(batch, hyper, weight);
        let mut first = true;
        while let Some(run) = runs.next() {
            let mut encoder = runner.begin();
            if std::mem::take(&mut first) {
                runner.clear(&mut encoder);
            }
            let sizes = runner.load(&mut encoder, batch, run, &settings);
            runner.encode(&mut encoder, &[Part::Forward, Part::Loss, Part::Backward], sizes)?;
            let last = runs.peek().is_none();
            if last {
                runner.encode(&mut encoder, finally, runner.plan.capacity)?;
                if reported {
                    self.reports.encode(&mut encoder, &runner.memory, runner.plan.summary);
                }
            }
            let submission = runner.submit(encoder)?;
            if last && reported {
                self.reports.submitted(submission, weight);
            }
        }
        Ok(())
    }

    /// Waits for the oldest step under way.
    fn read_oldest(&mut self) -> Result<Option<Losses>, Error> {
        let Some((summary, weight)) = self.reports.take(&self.runner.device)? else {
            return Ok(None);
        };
        let losses = losses(summary, weight);
        if summary.outcome == Outcome::Diverged {
            self.forget()?;
            let Losses { total: loss, gradient_norm, .. } = losses;
            return Err(Error::Diverged { loss, gradient_norm });
        }
        Ok(Some(losses))
    }

    /// Drops what steps under way have to tell. If one diverged, those after it were not taken.
    fn forget(&mut self) -> Result<(), Error> {
        self.untold.clear();
        while self.reports.take(&self.runner.device)?.is_some() {}
        self.runner.set_control(self.runner.control()?);
        Ok(())
    }
}

/// A step's losses.
fn losses(summary: Summary, weight: f32) -> Losses {
    let Summary { policy, value, gradient_norm, outcome, .. } = summary;
    let total = policy + weight * value;
    Losses { policy, value, total, gradient_norm, skipped: outcome == Outcome::Skipped }
}

impl Backend for Gpu {
    fn evaluate(&mut self, batch: &Batch) -> Result<Outputs, Error> {
        batch.validate()?;
        let runner = &mut self.runner;
        let settings = Settings::new(batch, &AdamW::default(), 0.0);
        let mut outputs = Outputs::default();
        let (logits, values) = self.outputs;
        for run in upload::runs(batch, runner.plan.capacity)? {
            let mut encoder = runner.begin();
            let sizes = runner.load(&mut encoder, batch, run, &settings);
            runner.encode(&mut encoder, &[Part::Forward], sizes)?;
            runner.submit(encoder)?;
            let logits = runner.plan.activations[logits.buffer.index()];
            let values = runner.plan.activations[values.buffer.index()];
            outputs.logits.extend(runner.read(logits, sizes.legal)?);
            outputs.values.extend(runner.read(values, sizes.positions())?);
        }
        Ok(outputs)
    }

    fn gradient(&mut self, batch: &Batch, value_weight: f32) -> Result<(Losses, Vec<f32>), Error> {
        self.start(batch, &AdamW::default(), value_weight, &[Part::Norm], false)?;
        let Runner { memory, device, plan, .. } = &self.runner;
        let summary = Summary::new(&memory.read_words(device, plan.summary, SUMMARY)?);
        let mut gradient = self.runner.read_chunks(|chunk| chunk.gradient)?;
        gradient.iter_mut().for_each(|g| *g /= summary.loss_scale);
        Ok((losses(summary, value_weight), gradient))
    }

    fn submit(&mut self, batch: &Batch, hyper: &AdamW, value_weight: f32) -> Result<(), Error> {
        hyper.validate()?;
        if self.reports.is_full() {
            let oldest = self.read_oldest()?;
            self.untold.extend(oldest);
        }
        self.start(batch, hyper, value_weight, &[Part::Norm, Part::Update], true)
    }

    fn losses(&mut self, under_way: usize) -> Result<Option<Losses>, Error> {
        if self.untold.len() + self.reports.len() <= under_way {
            return Ok(None);
        }
        match self.untold.pop_front() {
            Some(losses) => Ok(Some(losses)),
            None => self.read_oldest(),
        }
    }

    fn parameters(&mut self) -> Result<Vec<f32>, Error> {
        self.runner.read_chunks(|chunk| chunk.parameters)
    }

    fn optimizer_state(&mut self) -> Result<OptimizerState, Error> {
        self.trains()?;
        let m = self.runner.read_chunks(|chunk| chunk.first)?;
        let v = self.runner.read_chunks(|chunk| chunk.second)?;
        let Control { steps, loss_scale } = self.runner.control()?;
        let mixed = self.device().precision() == Precision::F16;
        Ok(OptimizerState { step: steps, m, v, loss_scale: mixed.then_some(loss_scale) })
    }

    fn average(&mut self, weight: f32) -> Result<(), Error> {
        self.averages()?;
        let mut encoder = self.runner.begin();
        self.runner.set_average_weight(&mut encoder, weight);
        let capacity = self.runner.plan.capacity;
        self.runner.encode(&mut encoder, &[Part::Average], capacity)?;
        self.runner.submit(encoder).map(drop)
    }

    fn averaged(&mut self) -> Result<Vec<f32>, Error> {
        self.averages()?;
        self.runner.read_chunks(|chunk| chunk.average)
    }

    fn restore_average(&mut self, average: &[f32]) -> Result<(), Error> {
        self.averages()?;
        let (what, expected, found) = ("average", self.parameters, average.len());
        if found != expected {
            return Err(Error::ParameterCount { what, expected, found });
        }
        self.runner.write_chunks(average, |chunk| chunk.average);
        self.runner.device.wait()
    }

    fn restore(&mut self, parameters: &[f32], state: &OptimizerState) -> Result<(), Error> {
        let (what, expected, found) = ("parameters", self.parameters, parameters.len());
        if found != expected {
            return Err(Error::ParameterCount { what, expected, found });
        }
        state.validate(expected)?;
        self.forget()?;
        self.runner.write_chunks(parameters, |chunk| chunk.parameters);
        if self.trains().is_ok() {
            self.runner.write_chunks(&state.m, |chunk| chunk.first);
            self.runner.write_chunks(&state.v, |chunk| chunk.second);
        }
        let loss_scale = self.scale(state.loss_scale);
        self.runner.set_control(Control { steps: state.step, loss_scale });
        self.runner.device.wait()
    }

    fn memory(&self) -> MemoryPlan {
        self.runner.plan.memory
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

/// Every shader that a network needs in runs of up to `max_positions`, each once, with these
/// shapes of matrix products; no device is needed. For validation.
///
/// # Errors
/// If the configuration is out of range or wgpu's default limits do not hold it.
pub fn shaders(
    config: &Config,
    max_positions: usize,
    precision: Precision,
    choices: &Choices,
) -> Result<Vec<Shader>, Error> {
    let binding = wgpu::Limits::default().max_storage_buffer_binding_size / Element::F32.bytes();
    let purpose = Purpose::Training { average: true };
    let plan = Plan::new(
        &Program::new(config)?,
        max_positions,
        binding as usize,
        precision,
        purpose,
        choices,
    )?;
    let parts = [plan.forward, plan.loss, plan.backward, plan.norm, plan.update, plan.average];
    let mut shaders: Vec<Shader> = vec![];
    for Dispatch { name, text, bindings, .. } in parts.into_iter().flatten() {
        if shaders.iter().all(|shader| shader.text != text) {
            let bindings = bindings.iter().map(|b| (b.number, b.writable)).collect();
            shaders.push(Shader { name, text, bindings });
        }
    }
    Ok(shaders)
}
