//! A plan's buffers on a device, and the ways in and out of them.
use half::f16;
use wgpu::{BufferDescriptor, BufferSize, BufferUsages, CommandEncoder, util::StagingBelt};

use super::{
    device::Device,
    plan::{BufferId, Element, Slice},
};
use crate::Error;

/// Bytes of the largest staging buffer.
const MAX_STAGING: u64 = 16 << 20;

/// The buffers of a plan, by [`BufferId`], and one through which results come back.
#[derive(Debug)]
pub(super) struct Memory {
    buffers: Vec<wgpu::Buffer>,
    staging: wgpu::Buffer,
}

impl Memory {
    /// Allocates buffers of these sizes in bytes; they start as zeros.
    pub fn new(device: &Device, sizes: &[u64]) -> Result<Memory, Error> {
        let buffer = |size: u64, usage| {
            device.device.create_buffer(&BufferDescriptor {
                label: None,
                size: size.max(wgpu::COPY_BUFFER_ALIGNMENT),
                usage,
                mapped_at_creation: false,
            })
        };
        let storage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        let staged = sizes.iter().copied().max().unwrap_or(0).min(MAX_STAGING);
        let memory = Memory {
            buffers: sizes.iter().map(|&size| buffer(size, storage)).collect(),
            staging: buffer(staged, BufferUsages::MAP_READ | BufferUsages::COPY_DST),
        };
        device.check()?;
        Ok(memory)
    }

    pub fn get(&self, id: BufferId) -> &wgpu::Buffer {
        &self.buffers[id.0]
    }

    /// Fills the start of a slice, rounding to what it holds.
    pub fn write(&self, device: &Device, slice: Slice, values: &[f32]) {
        if slice.element == Element::F16 {
            let halves = values.iter().map(|&value| f16::from_f32(value).to_bits());
            let mut halves: Vec<u16> = halves.collect();
            halves.resize(halves.len().next_multiple_of(2), 0);
            self.write_words(device, slice, bytemuck::cast_slice(&halves));
        } else {
            self.write_words(device, slice, bytemuck::cast_slice(values));
        }
    }

    /// Fills the start of a slice.
    pub fn write_words(&self, device: &Device, slice: Slice, words: &[u32]) {
        debug_assert!(4 * words.len() as u64 <= slice.bytes(), "it fits the slice");
        let bytes = bytemuck::cast_slice(words);
        device.queue.write_buffer(self.get(slice.buffer), slice.offset(), bytes);
    }

    /// The first `len` floats of a slice.
    pub fn read(&self, device: &Device, slice: Slice, len: usize) -> Result<Vec<f32>, Error> {
        if slice.element == Element::F16 {
            let words = self.read_words(device, slice, len.div_ceil(2))?;
            let halves: &[u16] = bytemuck::cast_slice(&words);
            return Ok(halves[..len].iter().map(|&bits| f16::from_bits(bits).to_f32()).collect());
        }
        let words = self.read_words(device, slice, len)?;
        Ok(words.into_iter().map(f32::from_bits).collect())
    }

    /// The first `len` words of a slice.
    pub fn read_words(&self, device: &Device, slice: Slice, len: usize) -> Result<Vec<u32>, Error> {
        let mut words = Vec::with_capacity(len);
        while words.len() < len {
            let first = slice.offset() + 4 * words.len() as u64;
            let size = (4 * (len - words.len()) as u64).min(self.staging.size());
            self.read_part(device, slice.buffer, first, size, &mut words)?;
        }
        Ok(words)
    }

    /// Some bytes of a buffer, which must fit the staging buffer.
    fn read_part(
        &self,
        device: &Device,
        buffer: BufferId,
        first: u64,
        size: u64,
        to: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let failed = |e: &dyn std::fmt::Display| Error::Device(format!("reading back: {e}"));
        let mut encoder = device.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(self.get(buffer), first, &self.staging, 0, size);
        let (sender, receiver) = std::sync::mpsc::channel();
        encoder.map_buffer_on_submit(&self.staging, wgpu::MapMode::Read, ..size, move |result| {
            // The receiver waits for exactly this message.
            let _ = sender.send(result);
        });
        device.queue.submit([encoder.finish()]);
        device.wait()?;
        receiver.recv().map_err(|e| failed(&e))?.map_err(|e| failed(&e))?;
        let mapped = self.staging.get_mapped_range(..size).map_err(|e| failed(&e))?;
        to.extend(mapped.as_chunks().0.iter().map(|&word| u32::from_ne_bytes(word)));
        drop(mapped);
        self.staging.unmap();
        Ok(())
    }
}

/// The way of batches to the device: through memory that is used again and again.
#[derive(Debug)]
pub(super) struct Feed(StagingBelt);

impl Feed {
    /// A way for runs of so many bytes.
    pub fn new(device: &Device, bytes: u64) -> Feed {
        Feed(StagingBelt::new(device.device.clone(), bytes.max(wgpu::COPY_BUFFER_ALIGNMENT)))
    }

    /// Writes whole words to a buffer, before the commands that follow.
    pub fn write<T: bytemuck::NoUninit>(
        &mut self,
        encoder: &mut CommandEncoder,
        buffer: &wgpu::Buffer,
        offset: u64,
        values: &[T],
    ) {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        if let Some(size) = BufferSize::new(bytes.len() as u64) {
            self.0.write_buffer(encoder, buffer, offset, size).copy_from_slice(bytes);
        }
    }

    /// To be called before the commands are submitted: afterwards the memory is free again.
    pub fn finish(&mut self, encoder: &CommandEncoder) {
        self.0.finish_and_recall_on_submit(encoder);
    }
}
