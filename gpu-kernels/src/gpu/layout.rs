//! Where parameters lie on the device.
//!
//! Every range that an operation binds starts at a multiple of 256 bytes, so the flat vector is
//! cut into pieces, and pieces fill chunks no larger than a binding. Gradients and the
//! optimizer's moments lie the same way in buffers of their own.
use std::ops::Range;

use super::plan::ALIGNMENT;
use crate::{
    Error,
    program::{Op, Program},
};

/// A range of the flat vector, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    flat: Range<usize>,
    chunk: usize,
    first: usize,
}

/// The places of all parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pieces: Vec<Piece>,
    chunks: Vec<usize>,
}

impl Layout {
    /// Lays out a program's parameters in chunks of at most `limit` elements.
    pub fn new(program: &Program, limit: usize) -> Result<Layout, Error> {
        let mut layout = Layout { pieces: vec![], chunks: vec![] };
        for flat in cut(program) {
            if flat.len() > limit {
                return Err(Error::Device(format!(
                    "a matrix of {} MiB is larger than the {} MiB that the device binds at once",
                    flat.len() >> 18,
                    limit >> 18
                )));
            }
            layout.place(flat, limit);
        }
        Ok(layout)
    }

    fn place(&mut self, flat: Range<usize>, limit: usize) {
        let padded = flat.len().next_multiple_of(ALIGNMENT);
        if self.chunks.last().is_none_or(|used| used + flat.len() > limit) {
            self.chunks.push(0);
        }
        let chunk = self.chunks.len() - 1;
        self.pieces.push(Piece { flat, chunk, first: self.chunks[chunk] });
        self.chunks[chunk] += padded;
    }

    /// Elements of each chunk, padding included.
    pub fn chunks(&self) -> &[usize] {
        &self.chunks
    }

    /// Chunk and first element of a range that an operation binds.
    pub fn find(&self, flat: &Range<usize>) -> Result<(usize, usize), Error> {
        let piece = self.pieces.iter().find(|piece| piece.flat == *flat);
        piece.map(|piece| (piece.chunk, piece.first)).ok_or_else(|| {
            Error::Device(format!("parameters {flat:?} overlap those of another operation"))
        })
    }

    /// The flat vector as chunks; padding is 0.
    pub fn scatter(&self, flat: &[f32]) -> Vec<Vec<f32>> {
        let mut chunks: Vec<_> = self.chunks.iter().map(|&len| vec![0.0; len]).collect();
        for piece in &self.pieces {
            let to = &mut chunks[piece.chunk][piece.first..][..piece.flat.len()];
            to.copy_from_slice(&flat[piece.flat.clone()]);
        }
        chunks
    }

    /// The flat vector from its chunks.
    pub fn gather(&self, chunks: &[Vec<f32>]) -> Vec<f32> {
        let mut flat = vec![0.0; self.pieces.last().map_or(0, |piece| piece.flat.end)];
        for piece in &self.pieces {
            let from = &chunks[piece.chunk][piece.first..][..piece.flat.len()];
            flat[piece.flat.clone()].copy_from_slice(from);
        }
        flat
    }
}

/// The flat vector cut into the ranges that operations bind and the gaps between them.
fn cut(program: &Program) -> Vec<Range<usize>> {
    let mut bound: Vec<_> = program.ops.iter().flat_map(Op::parameters).collect();
    bound.sort_by_key(|range| (range.start, range.end));
    let mut end = 0;
    let mut all = vec![];
    let last = program.parameters..program.parameters;
    for range in bound.into_iter().chain(std::iter::once(last)) {
        if range.start > end {
            all.push(end..range.start);
        }
        if range.start >= end && !range.is_empty() {
            end = range.end;
            all.push(range);
        }
    }
    all
}
