//! The caller's scratch buffer, and how many bytes of it a network needs.
use bytemuck::Pod;

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

/// Attention over the squares: norms, contexts; queries, keys and values of a head; sums,
/// scores and probabilities.
const fn attention(c: &Config) -> usize {
    let width = c.width as usize;
    let head = width / if c.heads == 0 { 1 } else { c.heads as usize };
    2 * words::<i8>(SQUARES * width)
        + 3 * words::<i16>(SQUARES * head)
        + 2 * words::<i32>(SQUARES)
        + words::<i16>(SQUARES)
}

/// A feed-forward layer over `rows`: norms, hidden values, sums of gate and up.
const fn feed_forward<T>(rows: usize, width: usize, hidden: usize) -> usize {
    words::<T>(rows * width) + words::<T>(rows * hidden) + 2 * words::<i32>(rows)
}

/// A state space block: norm; u and the gate; activations; step, B and C.
const fn state_space(c: &Config) -> usize {
    let inner = c.ssm_inner() as usize;
    words::<i16>(c.width as usize)
        + 2 * words::<i32>(inner)
        + words::<i16>(inner)
        + words::<i16>(c.ssm_rank as usize)
        + 2 * words::<i16>(c.ssm_state as usize)
}

/// The `from_to` head: the context's part of each channel, from and to vectors of the squares.
const fn from_to(c: &Config) -> usize {
    words::<i32>(from_to_rows(c) as usize) + 2 * words::<i16>(SQUARES * c.policy_dim as usize)
}

/// Bytes of scratch that [`Model::evaluate`](crate::net::Model::evaluate) needs for a network of
/// this configuration, whatever the buffer's alignment. It does not depend on the trunk's
/// pattern, so that it can be a constant of a preset.
pub const fn scratch_bytes(c: &Config) -> usize {
    let width = c.width as usize;
    let hidden = c.ffn_mult as usize * width;
    let trunk_hidden = larger(hidden, c.ssm_ffn_mult as usize * width);
    let streams = words::<i16>(SQUARES * width) + words::<i16>(width);
    let encoder = larger(attention(c), feed_forward::<i8>(TILE, width, hidden));
    let trunk = larger(state_space(c), feed_forward::<i16>(1, width, trunk_hidden));
    let heads = larger(from_to(c), words::<i16>(width / 2));
    streams + larger(larger(encoder, trunk), heads) + WORD - 1
}

/// Hands out integers from the scratch buffer.
pub struct Arena<'s> {
    free: &'s mut [u32],
    /// Bytes needed and bytes there, for the error.
    error: ModelError,
}

impl<'s> Arena<'s> {
    /// An arena on the aligned part of `scratch`.
    pub fn new(scratch: &'s mut [u8], needed: usize) -> Result<Arena<'s>, ModelError> {
        let error = ModelError::Scratch { needed, actual: scratch.len() };
        if scratch.len() < needed {
            return Err(error);
        }
        let (_, free, _) = bytemuck::pod_align_to_mut(scratch);
        Ok(Arena { free, error })
    }

    /// An arena over what is free now; what it hands out comes back when it goes.
    pub fn scope(&mut self) -> Arena<'_> {
        Arena { free: &mut *self.free, error: self.error }
    }

    /// `count` integers of at most a word, of any value.
    pub fn take<T: Pod>(&mut self, count: usize) -> Result<&'s mut [T], ModelError> {
        let free = core::mem::take(&mut self.free);
        let (taken, rest) =
            free.split_at_mut_checked(words::<T>(count) / WORD).ok_or(self.error)?;
        self.free = rest;
        bytemuck::cast_slice_mut(taken).get_mut(..count).ok_or(self.error)
    }
}
