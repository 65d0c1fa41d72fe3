//! Outputs of a matrix, channel by channel, on their way to a stream that lies row by row.
use super::{arithmetic::saturating_add, linear::Sums};
#[cfg(kernels = "x86")]
use super::{
    kernel::{self, rescale_to},
    vectors::{LANES, vectorized},
};
#[cfg(kernels = "x86")]
use crate::inputs::SQUARES;

/// Adds to a stream `[rows, width]`, of at most 64 rows.
///
/// Vectors want a row's channels side by side, and outputs come a channel at a time: they are
/// collected first, some channels of all rows, where there are vectors.
pub struct Adder<'s> {
    stream: &'s mut [i16],
    width: usize,
    #[cfg(kernels = "x86")]
    block: Block,
    /// Channels that the block holds, up to the one that came last.
    #[cfg(kernels = "x86")]
    filled: usize,
}

#[cfg(kernels = "x86")]
type Block = [[i32; SQUARES]; LANES];

impl<'s> Adder<'s> {
    pub fn new(stream: &'s mut [i16], width: usize) -> Adder<'s> {
        Adder {
            stream,
            width,
            #[cfg(kernels = "x86")]
            block: [[0; SQUARES]; LANES],
            #[cfg(kernels = "x86")]
            filled: 0,
        }
    }

    /// Adds outputs to a channel of every row. Channels come in order.
    #[cfg(kernels = "x86")]
    pub fn add(&mut self, channel: usize, sums: &mut Sums<'_>) {
        let row = &mut self.block[self.filled % LANES];
        match sums.rescaling() {
            Some((sums, rescaling)) => rescale_to(sums, &rescaling, row),
            None => {
                let ys = sums.within(i32::MAX);
                row[..ys.len()].copy_from_slice(ys);
            }
        }
        self.filled += 1;
        if self.filled == LANES {
            let first = channel + 1 - LANES;
            if !kernel::add_block(self.stream, self.width, first, &self.block) {
                add_block(self.stream, self.width, first, &self.block);
            }
            self.filled = 0;
        } else if channel + 1 == self.width {
            for (channel, ys) in (channel + 1 - self.filled..).zip(&self.block[..self.filled]) {
                add_channel(self.stream, self.width, channel, ys);
            }
        }
    }

    /// Adds outputs to a channel of every row. Channels come in order.
    #[cfg(not(kernels = "x86"))]
    pub fn add(&mut self, channel: usize, sums: &mut Sums<'_>) {
        #[cfg(kernels = "dsp")]
        {
            // What is added beyond the stream's range at its other end changes nothing.
            let (sums, rescaling) = sums.within_or_rescaled(2 * i32::from(i16::MAX));
            super::kernel::add_channel(self.stream, self.width, channel, sums, &rescaling);
        }
        #[cfg(not(kernels = "dsp"))]
        add_channel(self.stream, self.width, channel, sums.within(i32::MAX));
    }
}

#[cfg(not(kernels = "dsp"))]
fn add_channel(stream: &mut [i16], width: usize, channel: usize, ys: &[i32]) {
    for (row, &y) in stream.chunks_exact_mut(width.max(1)).zip(ys) {
        add_to(row, channel, y);
    }
}

/// Adds `y` to a channel of `row`.
pub fn add_to(row: &mut [i16], channel: usize, y: i32) {
    if let Some(x) = row.get_mut(channel) {
        *x = saturating_add(*x, y);
    }
}

#[cfg(kernels = "x86")]
vectorized! {
    /// Adds a block to the channels from `first` on.
    fn add_block(stream: &mut [i16], width: usize, first: usize, block: &Block) {
        for (square, row) in stream.chunks_exact_mut(width).enumerate().take(SQUARES) {
            let Some(row) = row[first..].first_chunk_mut::<LANES>() else { return };
            let ys: [i32; LANES] = core::array::from_fn(|channel| block[channel][square]);
            for (x, y) in row.iter_mut().zip(ys) {
                *x = saturating_add(*x, y);
            }
        }
    }
}
