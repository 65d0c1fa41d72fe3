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
mod record;
mod shader;
mod upload;

use kibitzer_core::net::Config;
use wgpu::{BufferDescriptor, BufferUsages, ComputePassDescriptor};

pub use device::{AdapterDescription, Choice, Device, MemoryLimits, adapters};
use lower::{Plan, SUMMARY};
use memory::Memory;
use plan::{Dispatch, Slice};
use record::{Recorded, Recorder};
use upload::Upload;

use crate::{
    AdamW, Backend, Batch, Error, Losses, OptimizerState, Outputs, Probe, Probed, Probing,
    initialise,
    program::{Program, Sizes, View},
};

/// Elements of the uniform that every shader reads: `Run` in `common.wgsl`.
const RUN: usize = 12;

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
        runner.refuse_sequences(batch)?;
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

    fn per_chunk(&self, pick: impl Fn(&lower::Chunk) -> Slice) -> Result<Vec<f32>, Error> {
        let plan = &self.runner.plan;
        let read = |chunk| {
            let slice = pick(chunk);
            self.runner.read(slice, slice.len)
        };
        let chunks: Vec<_> = plan.chunks.iter().map(read).collect::<Result<_, _>>()?;
        Ok(plan.layout.gather(&chunks))
    }
}

impl Backend for Gpu {
    fn evaluate(&mut self, batch: &Batch) -> Result<Outputs, Error> {
        batch.validate()?;
        let runner = &mut self.runner;
        runner.refuse_sequences(batch)?;
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
        Ok((losses, self.per_chunk(|chunk| chunk.gradient)?))
    }

    fn step(&mut self, batch: &Batch, hyper: &AdamW, value_weight: f32) -> Result<Losses, Error> {
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
        self.per_chunk(|chunk| chunk.parameters)
    }

    fn optimizer_state(&mut self) -> Result<OptimizerState, Error> {
        let m = self.per_chunk(|chunk| chunk.first)?;
        let v = self.per_chunk(|chunk| chunk.second)?;
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

/// The parts of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Forward,
    Loss,
    Backward,
    Norm,
    Update,
}

/// What a batch and the optimizer say to every run of a step.
#[derive(Debug, Clone, Copy)]
struct Settings {
    mean: f32,
    value_weight: f32,
    hyper: AdamW,
    step: u64,
}

impl Settings {
    fn new(batch: &Batch, hyper: &AdamW, value_weight: f32, step: u64) -> Settings {
        Settings { mean: 1.0 / batch.positions() as f32, value_weight, hyper: *hyper, step }
    }

    /// The uniform's elements.
    fn words(&self, sizes: Sizes) -> [u32; RUN] {
        let AdamW { learning_rate, beta1, beta2, epsilon, weight_decay, clip } = self.hyper;
        let (step_size, root_correction) = self.hyper.corrections(self.step);
        let floats = [
            self.mean,
            self.value_weight,
            clip.unwrap_or(f32::MAX),
            beta1,
            beta2,
            epsilon,
            step_size,
            root_correction,
            1.0 - learning_rate * weight_decay,
        ];
        let mut words = [0; RUN];
        words[0] = sizes.positions() as u32;
        words[1] = sizes.legal as u32;
        for (word, float) in words[2..].iter_mut().zip(floats) {
            *word = float.to_bits();
        }
        words
    }
}

/// A plan on a device.
#[derive(Debug)]
struct Runner {
    device: Device,
    plan: Plan,
    memory: Memory,
    run: wgpu::Buffer,
    parts: [Vec<Recorded>; 5],
    upload: Upload,
}

impl Runner {
    fn new(device: Device, program: &Program, max_positions: usize) -> Result<Runner, Error> {
        let limits = device.limits();
        let binding = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        let plan = Plan::new(program, max_positions, (binding / memory::ELEMENT) as usize)?;
        let memory = Memory::new(&device, &plan.buffers)?;
        let run = device.device.create_buffer(&BufferDescriptor {
            label: Some("run"),
            size: RUN as u64 * memory::ELEMENT,
            usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut recorder = Recorder::new(&device, &memory, &run);
        let parts = [
            recorder.record(&plan.forward)?,
            recorder.record(&plan.loss)?,
            recorder.record(&plan.backward)?,
            recorder.record(&plan.norm)?,
            recorder.record(&plan.update)?,
        ];
        Ok(Runner { device, plan, memory, run, parts, upload: Upload::default() })
    }

    fn refuse_sequences(&self, batch: &Batch) -> Result<(), Error> {
        if batch.length > 1 && self.plan.sequential {
            let length = batch.length;
            return Err(Error::Device(format!(
                "sequences of {length} positions do not run on the GPU, only single positions; \
                 use --device cpu"
            )));
        }
        Ok(())
    }

    /// Sets what the backward pass adds to, to zero.
    fn clear(&self) -> Result<(), Error> {
        let mut encoder = self.device.device.create_command_encoder(&Default::default());
        let gradients = self.plan.chunks.iter().map(|chunk| chunk.gradient);
        for slice in gradients.chain([self.plan.summary]) {
            encoder.clear_buffer(self.memory.get(slice.buffer), 0, None);
        }
        self.device.queue.submit([encoder.finish()]);
        self.device.check()
    }

    /// Writes a run of a batch to the device.
    fn load(&mut self, batch: &Batch, run: std::ops::Range<usize>, settings: &Settings) -> Sizes {
        let Runner { device, plan, memory, upload, .. } = self;
        let sizes = upload.write(device, memory, &plan.inputs, batch, run);
        device.queue.write_buffer(&self.run, 0, bytemuck::bytes_of(&settings.words(sizes)));
        sizes
    }

    /// Encodes and submits parts of the plan.
    fn submit(&self, parts: &[Part], sizes: Sizes) -> Result<(), Error> {
        let mut encoder = self.device.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
            for dispatch in parts.iter().flat_map(|&part| &self.parts[part as usize]) {
                dispatch.encode(&mut pass, sizes)?;
            }
        }
        self.device.queue.submit([encoder.finish()]);
        self.device.check()
    }

    fn read(&self, slice: Slice, len: usize) -> Result<Vec<f32>, Error> {
        self.memory.read(&self.device, slice, len)
    }

    fn write_chunks(&self, flat: &[f32], pick: impl Fn(&lower::Chunk) -> Slice) {
        let parts = self.plan.layout.scatter(flat);
        for (chunk, values) in self.plan.chunks.iter().zip(parts) {
            self.memory.write(&self.device, pick(chunk), &values);
        }
    }
}

/// A device that runs any program once: what the tests of single operations need.
#[derive(Debug)]
pub struct Prober {
    device: Device,
    /// The last program, ready to run again.
    last: Option<(Program, Runner)>,
}

impl Prober {
    /// A prober on an open device.
    pub const fn new(device: Device) -> Prober {
        Prober { device, last: None }
    }

    fn runner(&mut self, program: &Program, positions: usize) -> Result<&mut Runner, Error> {
        let suits = |(last, runner): &(Program, Runner)| {
            last == program && runner.plan.capacity.positions() == positions
        };
        if !self.last.as_ref().is_some_and(suits) {
            let runner = Runner::new(self.device.clone(), program, positions)?;
            self.last = Some((program.clone(), runner));
        }
        let (_, runner) = self.last.as_mut().expect("it was set above");
        Ok(runner)
    }
}

impl Probing for Prober {
    fn probe(&mut self, probe: &Probe<'_>) -> Result<Probed, Error> {
        let Probe { program, batch, parameters, inputs, output_gradients, value_weight } = *probe;
        batch.validate()?;
        let positions = batch.positions();
        let runner = self.runner(program, positions)?;
        runner.refuse_sequences(batch)?;
        runner.clear()?;
        runner.write_chunks(parameters, |chunk| chunk.parameters);
        for &(buffer, values) in inputs {
            runner.memory.write(&runner.device, runner.plan.activations[buffer.index()], values);
        }
        let settings = Settings::new(batch, &AdamW::default(), value_weight, 1);
        let sizes = runner.load(batch, 0..positions, &settings);
        runner.submit(&[Part::Forward, Part::Loss], sizes)?;
        let mut probed = Probed::default();
        for (info, &slice) in program.buffers.iter().zip(&runner.plan.activations) {
            probed.activations.push(runner.read(slice, sizes.rows(info.rows) * info.width)?);
        }
        for &(buffer, values) in output_gradients {
            if let Some(slice) = runner.plan.gradients[buffer.index()] {
                runner.memory.write(&runner.device, slice, values);
            }
        }
        runner.submit(&[Part::Backward], sizes)?;
        for &(buffer, values) in inputs {
            let slice = runner.plan.gradients[buffer.index()];
            probed.input_gradients.push(match slice {
                Some(slice) => runner.read(slice, values.len())?,
                None => vec![0.0; values.len()],
            });
        }
        let chunks = runner.plan.chunks.iter().map(|c| runner.read(c.gradient, c.gradient.len));
        let chunks: Vec<_> = chunks.collect::<Result<_, _>>()?;
        probed.parameter_gradient = runner.plan.layout.gather(&chunks);
        Ok(probed)
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
    let binding = wgpu::Limits::default().max_storage_buffer_binding_size / memory::ELEMENT;
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
