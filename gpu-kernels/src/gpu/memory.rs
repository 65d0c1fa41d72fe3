//! A plan's buffers on a device, and the ways in and out of them.
use wgpu::{BufferDescriptor, BufferUsages};

use super::{
    device::Device,
    plan::{BufferId, Slice},
};
use crate::Error;

/// Bytes of an element.
pub(super) const ELEMENT: u64 = 4;
/// Elements of the largest staging buffer: 16 MiB.
const MAX_STAGING: usize = 1 << 22;

/// The buffers of a plan, by [`BufferId`], and one through which results come back.
#[derive(Debug)]
pub(super) struct Memory {
    buffers: Vec<wgpu::Buffer>,
    staging: wgpu::Buffer,
    staged: usize,
}

impl Memory {
    /// Allocates buffers of these numbers of elements; they start as zeros.
    pub fn new(device: &Device, lengths: &[usize]) -> Result<Memory, Error> {
        let buffer = |len: usize, usage| {
            device.device.create_buffer(&BufferDescriptor {
                label: None,
                size: len.max(1) as u64 * ELEMENT,
                usage,
                mapped_at_creation: false,
            })
        };
        let storage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        let staged = lengths.iter().copied().max().unwrap_or(1).clamp(1, MAX_STAGING);
        let memory = Memory {
            buffers: lengths.iter().map(|&len| buffer(len, storage)).collect(),
            staging: buffer(staged, BufferUsages::MAP_READ | BufferUsages::COPY_DST),
            staged,
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
        debug_assert!(bytes.len() as u64 <= slice.len as u64 * ELEMENT, "it fits the slice");
        let first = slice.first as u64 * ELEMENT;
        device.queue.write_buffer(self.get(slice.buffer), first, bytes);
    }

    /// The first `len` elements of a slice.
    pub fn read(&self, device: &Device, slice: Slice, len: usize) -> Result<Vec<f32>, Error> {
        let mut values = Vec::with_capacity(len);
        while values.len() < len {
            let count = (len - values.len()).min(self.staged);
            self.read_part(device, slice.buffer, slice.first + values.len(), count, &mut values)?;
        }
        Ok(values)
    }

    fn read_part(
        &self,
        device: &Device,
        buffer: BufferId,
        first: usize,
        count: usize,
        to: &mut Vec<f32>,
    ) -> Result<(), Error> {
        let failed = |e: &dyn std::fmt::Display| Error::Device(format!("reading back: {e}"));
        let (first, size) = (first as u64 * ELEMENT, count as u64 * ELEMENT);
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
        to.extend(mapped.chunks_exact(4).map(|b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]])));
        drop(mapped);
        self.staging.unmap();
        Ok(())
    }
}
