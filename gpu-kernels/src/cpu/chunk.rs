//! As much of a batch as the buffers hold.
use std::ops::Range;

use kibitzer_core::inputs::{AUX, SQUARES};

use crate::{Batch, program::Sizes};

/// Whole sequences of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    batch: &'a Batch,
    first: usize,
    /// Its sizes.
    pub sizes: Sizes,
}

impl<'a> Chunk<'a> {
    /// Cuts a valid batch into chunks of at most `capacity` positions, at least one sequence.
    pub fn all(batch: &'a Batch, capacity: usize) -> impl Iterator<Item = Chunk<'a>> {
        let step = (capacity / batch.length).max(1);
        (0..batch.sequences).step_by(step).map(move |sequence| {
            let sequences = step.min(batch.sequences - sequence);
            let first = sequence * batch.length;
            let last = first + sequences * batch.length;
            let legal = (batch.legal_offsets[last] - batch.legal_offsets[first]) as usize;
            Chunk { batch, first, sizes: Sizes { sequences, length: batch.length, legal } }
        })
    }

    fn positions(&self) -> Range<usize> {
        self.first..self.first + self.sizes.positions()
    }

    /// Positions of the whole batch.
    pub const fn batch_positions(&self) -> usize {
        self.batch.positions()
    }

    /// Tokens of a position `[64]`.
    pub fn tokens(&self, position: usize) -> &'a [u8] {
        &self.batch.tokens[(self.first + position) * SQUARES..][..SQUARES]
    }

    /// Scalars of a position `[7]`.
    pub fn aux(&self, position: usize) -> &'a [f32] {
        &self.batch.aux[(self.first + position) * AUX..][..AUX]
    }

    /// Where a position's legal entries stand among the chunk's.
    pub fn entries(&self, position: usize) -> Range<usize> {
        let start = self.batch.legal_offsets[self.first] as usize;
        let entries = self.batch.entries(self.first + position);
        entries.start - start..entries.end - start
    }

    fn all_entries(&self) -> Range<usize> {
        let Range { start, end } = self.positions();
        self.batch.legal_offsets[start] as usize..self.batch.legal_offsets[end] as usize
    }

    /// Move indices of all its legal entries.
    pub fn legal(&self) -> &'a [u16] {
        &self.batch.legal[self.all_entries()]
    }

    /// Target probabilities of all its legal entries.
    pub fn target_policy(&self) -> &'a [f32] {
        &self.batch.target_policy[self.all_entries()]
    }

    /// Target values of its positions.
    pub fn target_value(&self) -> &'a [f32] {
        &self.batch.target_value[self.positions()]
    }
}
