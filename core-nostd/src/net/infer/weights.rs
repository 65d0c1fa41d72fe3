//! The weights of a matrix, as the inner loops want them: bytes in memory.
use core::ops::Range;

use super::{faults::Faults, parts::part_mut, scratch::Arena};
use crate::net::kbz::{Bytes, GROUP, PAIR_GROUP, WeightBits, expand, expand_in_place};

/// The weights of a matrix, which lie as [`Layout`](crate::net::kbz::Layout) says.
#[derive(Debug, Clone, Copy)]
pub struct Weights<'a> {
    bytes: Bytes<'a>,
    pair_bytes: usize,
    bits: WeightBits,
    /// Whether they are read where they lie: bytes in memory, and aligned to words where the inner
    /// loops load words.
    are_in_place: bool,
}

impl<'a> Weights<'a> {
    /// The weights of `rows` rows.
    pub fn new(bytes: Bytes<'a>, rows: usize, bits: WeightBits) -> Weights<'a> {
        let pair_bytes = bytes.len().checked_div(rows.div_ceil(2)).unwrap_or(0);
        let loads_words = cfg!(any(kernels = "dsp", kernels = "armv6m"));
        let are_in_place = match (bits, bytes) {
            (WeightBits::Eight, Bytes::Here(bytes)) => {
                !loads_words || bytes.as_ptr().cast::<u32>().is_aligned()
            }
            _ => false,
        };
        Weights { bytes, pair_bytes, bits, are_in_place }
    }

    /// Most pairs of rows that [`Weights::pairs`] gives at once: `most` where they are read in
    /// place.
    pub const fn at_once(&self, most: usize) -> usize {
        if self.are_in_place { most } else { 1 }
    }

    /// Bytes of a buffer for a pair of rows.
    pub const fn buffer_bytes(&self) -> usize {
        match self.bits {
            WeightBits::Eight if self.are_in_place => 0,
            WeightBits::Eight => self.pair_bytes,
            // Nibbles are half of a pair's bytes, and scales are fewer than nibbles.
            WeightBits::Four => self.pair_bytes * 2,
        }
    }

    /// The weights of some pairs of rows, of `groups` groups of columns.
    pub fn pairs<'b>(
        &self,
        pairs: Range<usize>,
        groups: usize,
        buffer: &'b mut Buffer<'_>,
    ) -> Option<&'b [i8]>
    where
        'a: 'b,
    {
        let end = (pairs.end * self.pair_bytes).min(self.bytes.len());
        let range = (pairs.start * self.pair_bytes).min(end)..end;
        let faults = buffer.faults;
        let buffer: &mut [u8] = bytemuck::cast_slice_mut(buffer.words);
        let bytes = match (self.bits, self.bytes) {
            (WeightBits::Eight, Bytes::Here(_)) if !self.are_in_place => {
                let bytes = self.bytes.read(range, &mut [], faults)?;
                let copy = part_mut(buffer, 0, bytes.len());
                copy.iter_mut().zip(bytes).for_each(|(to, &from)| *to = from);
                copy
            }
            (WeightBits::Eight, _) => self.bytes.read(range, buffer, faults)?,
            (WeightBits::Four, Bytes::Here(_)) => {
                let out = buffer.get_mut(..groups * PAIR_GROUP).unwrap_or(&mut []);
                expand(self.bytes.read(range, &mut [], faults)?, out);
                out
            }
            (WeightBits::Four, Bytes::There { .. }) => {
                let start = groups * GROUP;
                self.bytes.read(range, buffer.get_mut(start..).unwrap_or(&mut []), faults)?;
                expand_in_place(buffer, start, groups);
                buffer.get(..groups * PAIR_GROUP).unwrap_or(&[])
            }
        };
        Some(bytemuck::cast_slice(bytes))
    }
}

/// Room for a pair of rows whose weights are not read in place.
#[derive(Debug)]
pub struct Buffer<'s> {
    words: &'s mut [u32],
    /// Where it is noted if they cannot be read.
    faults: Option<&'s Faults>,
}

impl<'s> Buffer<'s> {
    /// Room for so many bytes.
    pub fn take(arena: &mut Arena<'s>, bytes: usize) -> Buffer<'s> {
        Buffer { words: arena.take(bytes.div_ceil(size_of::<u32>())), faults: arena.faults() }
    }
}

/// Words of a [`Buffer`] for matrices of at most `columns`, in memory.
pub const fn buffer_words(columns: usize) -> usize {
    let layout = crate::net::kbz::Layout::new(2, columns).with_bits(WeightBits::Four);
    (2 * layout.pair_bytes()).div_ceil(size_of::<u32>())
}
