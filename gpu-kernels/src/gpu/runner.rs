//! A plan on a device: what is uploaded, encoded and read back in a run.
use std::ops::Range;

use wgpu::{BufferDescriptor, BufferUsages, ComputePassDescriptor};

use super::{
    device::Device,
    lower::{Chunk, Plan},
    memory::Memory,
    plan::{Element, Slice},
    record::{Recorded, Recorder},
    upload::Upload,
};
use crate::{
    AdamW, Batch, Error,
    program::{Program, Sizes},
};

/// Elements of the uniform that every shader reads: `Run` in `common.wgsl`.
const RUN: usize = 12;
/// Most bytes of a binding, so that the shaders' 32-bit indices reach all of it.
const MAX_BINDING: u64 = 1 << 32;

/// The parts of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Forward,
    Loss,
    Backward,
    Norm,
    Update,
}

/// What a batch and the optimizer say to every run of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    mean: f32,
    value_weight: f32,
    hyper: AdamW,
    step: u64,
}

impl Settings {
    pub fn new(batch: &Batch, hyper: &AdamW, value_weight: f32, step: u64) -> Settings {
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
        words[RUN - 1] = sizes.length as u32;
        for (word, float) in words[2..].iter_mut().zip(floats) {
            *word = float.to_bits();
        }
        words
    }
}

/// A plan on a device.
#[derive(Debug)]
pub(super) struct Runner {
    pub device: Device,
    pub plan: Plan,
    pub memory: Memory,
    run: wgpu::Buffer,
    parts: [Vec<Recorded>; 5],
    upload: Upload,
}

impl Runner {
    /// Allocates and records everything, for runs of up to `capacity` positions.
    pub fn new(device: Device, program: &Program, capacity: usize) -> Result<Runner, Error> {
        let limits = device.limits();
        let binding = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        let binding = binding.min(MAX_BINDING);
        let plan = Plan::new(program, capacity, (binding / Element::F32.bytes()) as usize)?;
        let memory = Memory::new(&device, &plan.buffers)?;
        let run = device.device.create_buffer(&BufferDescriptor {
            label: Some("run"),
            size: 4 * RUN as u64,
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

    /// Sets what the backward pass adds to, to zero.
    pub fn clear(&self) -> Result<(), Error> {
        let gradients = self.plan.chunks.iter().map(|chunk| chunk.gradient);
        self.clear_slices(gradients.chain([self.plan.summary]))
    }

    /// Sets the buffers of these slices to zero.
    pub fn clear_slices(&self, slices: impl Iterator<Item = Slice>) -> Result<(), Error> {
        let mut encoder = self.device.device.create_command_encoder(&Default::default());
        for slice in slices {
            encoder.clear_buffer(self.memory.get(slice.buffer), 0, None);
        }
        self.device.queue.submit([encoder.finish()]);
        self.device.check()
    }

    /// Writes a run of a batch to the device.
    pub fn load(&mut self, batch: &Batch, run: Range<usize>, settings: &Settings) -> Sizes {
        let Runner { device, plan, memory, upload, .. } = self;
        let sizes = upload.write(device, memory, &plan.inputs, batch, run);
        device.queue.write_buffer(&self.run, 0, bytemuck::bytes_of(&settings.words(sizes)));
        sizes
    }

    /// Encodes and submits parts of the plan.
    pub fn submit(&self, parts: &[Part], sizes: Sizes) -> Result<(), Error> {
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

    /// The first elements of a slice.
    pub fn read(&self, slice: Slice, len: usize) -> Result<Vec<f32>, Error> {
        self.memory.read(&self.device, slice, len)
    }

    /// Reads a flat vector of parameters, gradients or moments.
    pub fn read_chunks(&self, pick: impl Fn(&Chunk) -> Slice) -> Result<Vec<f32>, Error> {
        let read = |chunk| {
            let slice = pick(chunk);
            self.read(slice, slice.len)
        };
        let chunks: Vec<_> = self.plan.chunks.iter().map(read).collect::<Result<_, _>>()?;
        Ok(self.plan.layout.gather(&chunks))
    }

    /// Writes a flat vector of parameters, gradients or moments.
    pub fn write_chunks(&self, flat: &[f32], pick: impl Fn(&Chunk) -> Slice) {
        let parts = self.plan.layout.scatter(flat);
        for (chunk, values) in self.plan.chunks.iter().zip(parts) {
            self.memory.write(&self.device, pick(chunk), &values);
        }
    }
}
