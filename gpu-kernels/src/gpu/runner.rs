//! A plan on a device: what is uploaded, encoded and read back in a run.
use std::ops::Range;

use wgpu::{
    BufferDescriptor, BufferUsages, CommandEncoder, ComputePass, ComputePassDescriptor,
    SubmissionIndex,
};

use super::{
    allocation::{Chunk, Purpose},
    device::Device,
    lower::Plan,
    memory::{Feed, Memory},
    plan::{CONTROL, Element, Slice},
    record::{Recorded, Recorder},
    upload::Upload,
};
use crate::{
    AdamW, Batch, Error, LossScale,
    program::{Program, Sizes},
};

/// Elements of the uniform that every shader reads: `Run` in `common.wgsl`.
const RUN: usize = 12;
/// Where in it the weight of the parameters' running average is.
const AVERAGE_WEIGHT: u64 = 11;
/// Most bytes of a binding, so that the shaders' 32-bit indices reach all of it.
const MAX_BINDING: u64 = 1 << 32;

/// Bytes that the parts of a batch may lose to alignment on their way.
const SLACK: u64 = 256;

/// The parts of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Forward,
    Loss,
    Backward,
    Norm,
    Update,
    Average,
}

/// What a batch and the optimizer say to every run of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    mean: f32,
    value_weight: f32,
    hyper: AdamW,
}

impl Settings {
    pub fn new(batch: &Batch, hyper: &AdamW, value_weight: f32) -> Settings {
        Settings { mean: 1.0 / batch.positions() as f32, value_weight, hyper: *hyper }
    }

    /// The uniform's elements.
    fn words(&self, sizes: Sizes) -> [u32; RUN] {
        let AdamW { learning_rate, beta1, beta2, epsilon, weight_decay, clip } = self.hyper;
        let floats = [
            self.mean,
            self.value_weight,
            clip.unwrap_or(f32::MAX),
            beta1,
            beta2,
            epsilon,
            learning_rate,
            1.0 - learning_rate * weight_decay,
        ];
        let mut words = [0; RUN];
        words[0] = sizes.positions() as u32;
        words[1] = sizes.legal as u32;
        for (word, float) in words[2..].iter_mut().zip(floats) {
            *word = float.to_bits();
        }
        words[2 + floats.len()] = sizes.length as u32;
        words
    }
}

/// What lasts from step to step besides parameters and moments: `Control` in `summary.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Control {
    pub steps: u64,
    pub loss_scale: LossScale,
}

/// The plan of a program for a device; nothing is allocated.
pub(super) fn planned(
    device: &Device,
    program: &Program,
    capacity: usize,
    purpose: Purpose,
) -> Result<Plan, Error> {
    let limits = device.limits();
    let binding = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
    let binding = (binding.min(MAX_BINDING) / Element::F32.bytes()) as usize;
    Plan::new(program, capacity, binding, device.precision(), purpose, device.choices())
}

/// A plan on a device.
#[derive(Debug)]
pub(super) struct Runner {
    pub device: Device,
    pub plan: Plan,
    pub memory: Memory,
    run: wgpu::Buffer,
    parts: [Vec<Recorded>; 6],
    upload: Upload,
    feed: Feed,
}

impl Runner {
    /// Allocates and records everything, for runs of up to `capacity` positions.
    pub fn new(
        device: Device,
        program: &Program,
        capacity: usize,
        purpose: Purpose,
    ) -> Result<Runner, Error> {
        let plan = planned(&device, program, capacity, purpose)?;
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
            recorder.record(&plan.average)?,
        ];
        let feed = Feed::new(&device, plan.inputs.bytes() + run.size() + SLACK);
        Ok(Runner { device, plan, memory, run, parts, upload: Upload::default(), feed })
    }

    /// A list of commands to fill.
    pub fn begin(&self) -> CommandEncoder {
        self.device.device.create_command_encoder(&Default::default())
    }

    /// Sets what the backward pass adds to, to zero.
    pub fn clear(&self, encoder: &mut CommandEncoder) {
        let gradients = self.plan.chunks.iter().map(|chunk| chunk.gradient);
        self.clear_slices(encoder, gradients.chain([self.plan.summary]));
    }

    /// Sets the buffers of these slices to zero.
    pub fn clear_slices(&self, encoder: &mut CommandEncoder, slices: impl Iterator<Item = Slice>) {
        for slice in slices {
            encoder.clear_buffer(self.memory.get(slice.buffer), 0, None);
        }
    }

    /// Brings a run of a batch to the device.
    pub fn load(
        &mut self,
        encoder: &mut CommandEncoder,
        batch: &Batch,
        run: Range<usize>,
        settings: &Settings,
    ) -> Sizes {
        let Runner { plan, memory, upload, feed, .. } = self;
        let sizes = upload.write(feed, encoder, memory, &plan.inputs, batch, run);
        feed.write(encoder, &self.run, 0, &settings.words(sizes));
        sizes
    }

    /// Says how far the next average moves.
    pub fn set_average_weight(&mut self, encoder: &mut CommandEncoder, weight: f32) {
        let Runner { feed, run, .. } = self;
        feed.write(encoder, run, 4 * AVERAGE_WEIGHT, &[weight.to_bits()]);
    }

    /// Encodes parts of the plan.
    pub fn encode(
        &self,
        encoder: &mut CommandEncoder,
        parts: &[Part],
        sizes: Sizes,
    ) -> Result<(), Error> {
        let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
        for dispatch in parts.iter().flat_map(|&part| &self.parts[part as usize]) {
            dispatch.encode(&mut pass, sizes)?;
        }
        Ok(())
    }

    /// Encodes some of a part's dispatches.
    pub fn encode_range(
        &self,
        pass: &mut ComputePass<'_>,
        part: Part,
        range: Range<usize>,
        sizes: Sizes,
    ) -> Result<(), Error> {
        self.parts[part as usize][range].iter().try_for_each(|d| d.encode(pass, sizes))
    }

    /// Sends the commands off.
    pub fn submit(&mut self, encoder: CommandEncoder) -> Result<SubmissionIndex, Error> {
        self.feed.finish(&encoder);
        let submission = self.device.queue.submit([encoder.finish()]);
        // So that the memory of batches that have arrived is used again.
        let polled = self.device.device.poll(wgpu::PollType::Poll);
        polled.map_err(|e| Error::Device(format!("submitting: {e}")))?;
        self.device.check()?;
        Ok(submission)
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

    /// What lasts from step to step.
    pub fn control(&self) -> Result<Control, Error> {
        let words = self.memory.read_words(&self.device, self.plan.control, CONTROL)?;
        let scale = f32::from_bits(words[1]);
        Ok(Control {
            steps: words[0].into(),
            loss_scale: LossScale { scale, good_steps: words[2] },
        })
    }

    /// Sets it, and lets steps be taken again if one has diverged.
    pub fn set_control(&self, control: Control) {
        let Control { steps, loss_scale } = control;
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        let words = [steps, loss_scale.scale.to_bits(), loss_scale.good_steps, 0];
        self.memory.write_words(&self.device, self.plan.control, &words);
    }
}
