//! A plan's buffers on a device, and the ways in and out of them.
use wgpu::{BufferDescriptor, BufferUsages};

use super::{
    device::Device,
    plan::{BufferId, Slice},
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

    /// Fills the start of a slice.
    pub fn write<T: bytemuck::NoUninit>(&self, device: &Device, slice: Slice, values: &[T]) {
        let bytes = bytemuck::cast_slice(values);
        debug_assert!(bytes.len() as u64 <= slice.bytes(), "it fits the slice");
        device.queue.write_buffer(self.get(slice.buffer), slice.offset(), bytes);
    }

    /// The first `len` floats of a slice.
    pub fn read(&self, device: &Device, slice: Slice, len: usize) -> Result<Vec<f32>, Error> {
        let mut values = Vec::with_capacity(len);
        self.read_words(device, slice, len, |word| values.push(f32::from_ne_bytes(word)))?;
        Ok(values)
    }

    /// The first `len` words of a slice, one by one.
    pub fn read_words(
        &self,
        device: &Device,
        slice: Slice,
        len: usize,
        mut take: impl FnMut([u8; 4]),
    ) -> Result<(), Error> {
        let end = slice.offset() + 4 * len as u64;
        let mut first = slice.offset();
        while first < end {
            let size = (end - first).min(self.staging.size());
            self.read_part(device, slice.buffer, first, size, &mut take)?;
            first += size;
        }
        Ok(())
    }

    /// Some bytes of a buffer, which must fit the staging buffer.
    fn read_part(
        &self,
        device: &Device,
        buffer: BufferId,
        first: u64,
        size: u64,
        take: &mut impl FnMut([u8; 4]),
    ) -> Result<(), Error> {
        let failed = |e: &dyn std::fmt::Display| Error::Device(format!("reading back: {e}"));
        let mut encoder = device.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(self.get(buffer), first, &self.staging, 0, size);
        device.queue.submit([encoder.finish()]);
        let (sender, receiver) = std::sync::mpsc::channel();
        self.staging.map_async(wgpu::MapMode::Read, ..size, move |result| {
            // The receiver waits for exactly this message.
            let _ = sender.send(result);
        });
        device.wait()?;
        receiver.recv().map_err(|e| failed(&e))?.map_err(|e| failed(&e))?;
        let mapped = self.staging.get_mapped_range(..size).map_err(|e| failed(&e))?;
        mapped.as_chunks().0.iter().for_each(|&word| take(word));
        drop(mapped);
        self.staging.unmap();
        Ok(())
    }
}
