//! The losses of steps, read back while later ones are under way.
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use wgpu::{BufferDescriptor, BufferUsages, CommandEncoder, SubmissionIndex};

use super::{
    device::Device,
    memory::Memory,
    plan::{SUMMARY, Slice},
};
use crate::Error;

/// Most steps under way.
const MOST: usize = 8;
/// Bytes of a report.
const BYTES: u64 = 4 * SUMMARY as u64;

/// What a step came to: `Summary` in `summary.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Summary {
    pub policy: f32,
    pub value: f32,
    pub gradient_norm: f32,
    pub loss_scale: f32,
    pub outcome: Outcome,
}

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Taken,
    Skipped,
    Diverged,
}

impl Summary {
    /// From the words of the struct.
    pub fn new(words: &[u32]) -> Summary {
        let [policy, value, gradient_norm, loss_scale] =
            [0, 1, 2, 3].map(|i| f32::from_bits(words[i]));
        let outcome = match words[4] {
            0 => Outcome::Taken,
            1 => Outcome::Skipped,
            _ => Outcome::Diverged,
        };
        Summary { policy, value, gradient_norm, loss_scale, outcome }
    }
}

/// A step under way, and where its summary comes back.
#[derive(Debug)]
struct Report {
    slot: usize,
    submission: SubmissionIndex,
    value_weight: f32,
}

/// Whether a slot's memory has been mapped, or why not.
type Mapped = Arc<Mutex<Option<Result<(), wgpu::BufferAsyncError>>>>;

/// Summaries of steps under way, in order.
#[derive(Debug)]
pub(super) struct Reports {
    slots: Vec<(wgpu::Buffer, Mapped)>,
    next: usize,
    under_way: VecDeque<Report>,
}

impl Reports {
    pub fn new(device: &Device) -> Reports {
        let slot = |_| {
            let buffer = device.device.create_buffer(&BufferDescriptor {
                label: Some("report"),
                size: BYTES,
                usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            (buffer, Mapped::default())
        };
        let slots = (0..MOST).map(slot).collect();
        Reports { slots, next: 0, under_way: VecDeque::with_capacity(MOST) }
    }

    pub fn len(&self) -> usize {
        self.under_way.len()
    }

    /// Whether a step must be told before another may start.
    pub fn is_full(&self) -> bool {
        self.len() == MOST
    }

    /// Encodes that the summary comes back with these commands.
    pub fn encode(&self, encoder: &mut CommandEncoder, memory: &Memory, summary: Slice) {
        let (buffer, mapped) = &self.slots[self.next];
        encoder.copy_buffer_to_buffer(memory.get(summary.buffer), 0, buffer, 0, BYTES);
        let mapped = Arc::clone(mapped);
        encoder.map_buffer_on_submit(buffer, wgpu::MapMode::Read, .., move |result| {
            if let Ok(mut slot) = mapped.lock() {
                *slot = Some(result);
            }
        });
    }

    /// Notes that these commands have been submitted.
    pub fn submitted(&mut self, submission: SubmissionIndex, value_weight: f32) {
        self.under_way.push_back(Report { slot: self.next, submission, value_weight });
        self.next = (self.next + 1) % MOST;
    }

    /// Waits for the oldest step; its summary and value weight.
    pub fn take(&mut self, device: &Device) -> Result<Option<(Summary, f32)>, Error> {
        let failed = |e: &dyn std::fmt::Display| Error::Device(format!("reading back: {e}"));
        let Some(report) = self.under_way.pop_front() else { return Ok(None) };
        device.wait_for(Some(report.submission))?;
        let (buffer, mapped) = &self.slots[report.slot];
        let mapped = mapped.lock().map_err(|e| failed(&e))?.take();
        mapped.ok_or_else(|| failed(&"it was not mapped"))?.map_err(|e| failed(&e))?;
        let view = buffer.get_mapped_range(..).map_err(|e| failed(&e))?;
        let mut words = [0; SUMMARY];
        bytemuck::bytes_of_mut(&mut words).copy_from_slice(&view);
        drop(view);
        buffer.unmap();
        Ok(Some((Summary::new(&words), report.value_weight)))
    }
}
