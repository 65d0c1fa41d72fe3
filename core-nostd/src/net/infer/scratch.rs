//! The caller's scratch buffer, and how many bytes of it a network needs.
use bytemuck::Pod;

use super::{
    faults::Faults,
    kernel::{dot_sums, factor_halves, row_halves, tile_words},
    linear::BLOCK,
    weights::buffer_words,
};
use crate::{
    inputs::SQUARES,
    net::{Config, kbz::ModelError, kbz::from_to_rows},
};

/// Squares that pass the encoder's feed-forward layer together: the weights are read from flash
/// once for all of them.
pub const TILE: usize = 8;

/// Bytes of `count` integers of type T, in whole words.
const fn words<T>(count: usize) -> usize {
    (count * size_of::<T>()).next_multiple_of(WORD)
}

const WORD: usize = size_of::<u32>();

const fn larger(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

/// Bytes of the activations `[tokens, columns]`.
#[inline(never)] // for flash: it is called from a dozen places
const fn tile(tokens: usize, columns: usize) -> usize {
    words::<u32>(tile_words(tokens, columns))
}

/// Sums of the attention over the squares with heads of size `dim`: of a pair of rows for all
/// squares, of two queries by all keys, of two heads' contexts.
pub const fn attention_sums(dim: usize) -> usize {
    larger(2 * SQUARES, dot_sums(dim))
}

/// Attention over the squares: norms, contexts; queries, keys and values of a head;
/// probabilities of two queries; sums.
const fn attention(c: &Config) -> usize {
    let width = c.width as usize;
    let head = width / if c.heads == 0 { 1 } else { c.heads as usize };
    2 * tile(SQUARES, width)
        + words::<i16>(factor_halves(SQUARES, head))
        + words::<i16>(row_halves(SQUARES, head))
        + words::<i16>(row_halves(head, SQUARES))
        + words::<i16>(factor_halves(2, SQUARES))
        + words::<i32>(attention_sums(head))
}

/// A feed-forward layer over `tokens`: norms, hidden values, gates and sums.
const fn feed_forward(tokens: usize, width: usize, hidden: usize) -> usize {
    tile(tokens, width) + tile(tokens, hidden) + words::<i32>((BLOCK + 2) * tokens)
}

/// A state space block: norm; u and the gate; activations; step, B and C.
const fn state_space(c: &Config) -> usize {
    let inner = c.ssm_inner() as usize;
    tile(1, c.width as usize)
        + 2 * words::<i32>(inner)
        + tile(1, inner)
        + tile(1, c.ssm_rank as usize)
        + 2 * words::<i16>(c.ssm_state as usize)
}

/// The `from_to` head: the context's part of each channel, from and to vectors of the squares,
/// a square's or the trunk's row.
const fn from_to(c: &Config) -> usize {
    words::<i32>(from_to_rows(c) as usize)
        + 2 * words::<i16>(SQUARES * c.policy_dim as usize)
        + tile(1, c.width as usize)
}

/// Bytes of scratch that [`Model::evaluate`](crate::net::Model::evaluate) needs for a network of
/// this configuration, whatever the buffer's alignment. It does not depend on the trunk's
/// pattern, so that it can be a constant of a preset.
pub const fn scratch_bytes(c: &Config) -> usize {
    bytes(c, TILE)
}

/// Bytes of scratch of which all can be used: so much lets all squares pass the encoder's
/// feed-forward layers together, which reads the weights once. It is for hosts, where memory is
/// cheap; the answers are the same.
pub const fn ample_scratch_bytes(c: &Config) -> usize {
    bytes(c, SQUARES)
}

/// Bytes of scratch with which so many squares pass the feed-forward layers together.
const fn bytes(c: &Config, tokens: usize) -> usize {
    let width = c.width as usize;
    let hidden = c.ffn_mult as usize * width;
    let trunk_hidden = larger(hidden, c.ssm_ffn_mult as usize * width);
    let streams = words::<i16>(SQUARES * width) + words::<i16>(width);
    let encoder = larger(attention(c), feed_forward(tokens, width, hidden));
    let trunk = larger(state_space(c), feed_forward(1, width, trunk_hidden));
    let heads = larger(from_to(c), tile(1, width) + tile(1, width / 2));
    let columns = larger(larger(hidden, trunk_hidden), c.ssm_inner() as usize);
    let weights = words::<u32>(buffer_words(columns));
    streams + larger(larger(encoder, trunk), heads) + weights + WORD - 1
}

/// Hands out integers from the scratch buffer. What there is no room for is empty, and
/// [`Arena::outcome`] tells: a layer takes all that it needs before it asks.
pub struct Arena<'s> {
    free: &'s mut [u32],
    is_short: bool,
    /// Where faults are noted, if somebody wants to know.
    faults: Option<&'s Faults>,
}

impl<'s> Arena<'s> {
    /// An arena on the aligned part of `scratch`, which must have so many bytes.
    pub fn new(scratch: &'s mut [u8], needed: usize) -> Result<Arena<'s>, ModelError> {
        if scratch.len() < needed {
            return Err(ModelError::Scratch { needed, actual: scratch.len() });
        }
        let (_, free, _) = bytemuck::pod_align_to_mut(scratch);
        Ok(Arena { free, is_short: false, faults: None })
    }

    /// The same, noting in `faults` what goes wrong with what it is used for.
    pub fn noting(self, faults: &'s Faults) -> Arena<'s> {
        Arena { faults: Some(faults), ..self }
    }

    /// An arena over what is free now; what it hands out comes back when it goes.
    pub fn scope(&mut self) -> Arena<'_> {
        Arena { free: &mut *self.free, ..*self }
    }

    /// An arena over what is free, of which nothing is left here.
    pub fn rest(&mut self) -> Arena<'s> {
        Arena { free: core::mem::take(&mut self.free), ..*self }
    }

    /// Whether there was room for all that was taken.
    pub fn outcome(&self) -> Option<()> {
        (!self.is_short).then_some(())
    }

    /// Words that are free.
    pub const fn free(&self) -> usize {
        self.free.len()
    }

    /// `count` integers of at most a word, of any value; none if there is no room for so many.
    #[inline(never)] // for flash: it is called from three dozen places
    pub fn take<T: Pod>(&mut self, count: usize) -> &'s mut [T] {
        let taken = self.take_words(words::<T>(count) / WORD);
        bytemuck::cast_slice_mut(taken).get_mut(..count).unwrap_or(&mut [])
    }

    /// Where faults are noted.
    pub const fn faults(&self) -> Option<&'s Faults> {
        self.faults
    }

    fn take_words(&mut self, count: usize) -> &'s mut [u32] {
        match core::mem::take(&mut self.free).split_at_mut_checked(count) {
            Some((taken, rest)) => {
                self.free = rest;
                taken
            }
            None => {
                self.is_short = true;
                &mut []
            }
        }
    }
}
