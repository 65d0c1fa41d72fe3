//! A part of a batch in the form that the shaders read.
use std::ops::Range;

use kibitzer_core::{
    inputs::{AUX, SQUARES},
    moves::MOVES,
};

use bytemuck::cast_slice;
use wgpu::CommandEncoder;

use super::{
    allocation::Inputs,
    memory::{Feed, Memory},
    plan::Slice,
};
use crate::{Batch, Error, pairs, program::Sizes};

/// The packed plane of a move that is no underpromotion; `NO_PLANE` in `entries.wgsl`.
const NO_PLANE: u32 = 15;

/// Cuts a batch into runs of whole sequences that the device's buffers hold.
pub(super) fn runs(batch: &Batch, capacity: Sizes) -> Result<Vec<Range<usize>>, Error> {
    if batch.length > capacity.positions() {
        let (found, most) = (batch.length, capacity.positions());
        return Err(Error::Capacity { what: "positions", found, most });
    }
    let entries = |range: &Range<usize>| {
        (batch.legal_offsets[range.end] - batch.legal_offsets[range.start]) as usize
    };
    let mut runs: Vec<Range<usize>> = vec![];
    for sequence in 0..batch.sequences {
        let positions = sequence * batch.length..(sequence + 1) * batch.length;
        if entries(&positions) > capacity.legal {
            let (found, most) = (entries(&positions), capacity.legal);
            return Err(Error::Capacity { what: "legal entries", found, most });
        }
        let fits = |run: &&mut Range<usize>| {
            let with_it = run.start..positions.end;
            with_it.len() <= capacity.positions() && entries(&with_it) <= capacity.legal
        };
        match runs.last_mut().filter(fits) {
            Some(run) => run.end = positions.end,
            None => runs.push(positions),
        }
    }
    Ok(runs)
}

/// Buffers on this side, kept from run to run.
#[derive(Debug, Default)]
pub(super) struct Upload {
    offsets: Vec<u32>,
    entries: Vec<[u32; 2]>,
    starts: Vec<u32>,
    by_index: Vec<u32>,
}

impl Upload {
    /// Brings a run of a checked batch to the device, with its targets if it has any.
    pub fn write(
        &mut self,
        feed: &mut Feed,
        encoder: &mut CommandEncoder,
        memory: &Memory,
        inputs: &Inputs,
        batch: &Batch,
        run: Range<usize>,
    ) -> Sizes {
        self.arrange(batch, run.clone());
        let legal = batch.legal_offsets[run.start] as usize..batch.legal_offsets[run.end] as usize;
        let tokens = &batch.tokens[run.start * SQUARES..run.end * SQUARES];
        let scalars = &batch.aux[run.start * AUX..run.end * AUX];
        let mut write = |slice: Slice, bytes: &[u8]| {
            debug_assert!(bytes.len() as u64 <= slice.bytes(), "it fits the slice");
            feed.write(encoder, memory.get(slice.buffer), slice.offset(), bytes);
        };
        write(inputs.tokens, tokens);
        write(inputs.scalars, cast_slice(scalars));
        write(inputs.offsets, cast_slice(&self.offsets));
        write(inputs.entries, cast_slice(&self.entries));
        write(inputs.starts, cast_slice(&self.starts));
        write(inputs.by_index, cast_slice(&self.by_index));
        if !batch.target_policy.is_empty() {
            write(inputs.wanted, cast_slice(&batch.target_policy[legal.clone()]));
        }
        if !batch.target_value.is_empty() {
            write(inputs.outcomes, cast_slice(&batch.target_value[run.clone()]));
        }
        let length = batch.length;
        Sizes { sequences: run.len() / length, length, legal: legal.len() }
    }

    /// Packs the legal entries, and lists them by move index (a counting sort).
    fn arrange(&mut self, batch: &Batch, run: Range<usize>) {
        let first = batch.legal_offsets[run.start];
        self.offsets.clear();
        self.offsets.extend(batch.legal_offsets[run.start..=run.end].iter().map(|o| o - first));
        self.entries.clear();
        self.starts.clear();
        self.starts.resize(MOVES + 1, 0);
        for (position, n) in run.clone().zip(0..) {
            for &index in &batch.legal[batch.entries(position)] {
                self.entries.push([n, packed(index)]);
                self.starts[usize::from(index) + 1] += 1;
            }
        }
        for index in 0..MOVES {
            self.starts[index + 1] += self.starts[index];
        }
        self.by_index.clear();
        self.by_index.resize(self.entries.len(), 0);
        let legal = &batch.legal[first as usize..batch.legal_offsets[run.end] as usize];
        for (&index, entry) in legal.iter().zip(0..) {
            let next = &mut self.starts[usize::from(index)];
            self.by_index[*next as usize] = entry;
            *next += 1;
        }
        // Each start has moved to the next one's place.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }
}

/// A move index and its squares in one word, as `entries.wgsl` takes them apart.
fn packed(index: u16) -> u32 {
    let word = u32::from(index);
    pairs()[usize::from(index)].map_or(word, |pair| {
        let plane = pair.promotion.map_or(NO_PLANE, u32::from);
        word | u32::from(pair.from) << 13 | u32::from(pair.to) << 19 | plane << 25
    })
}
