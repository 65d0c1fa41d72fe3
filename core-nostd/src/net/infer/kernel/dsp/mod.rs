//! The inner loops for Cortex-M with the DSP extension.
//!
//! `smlad` multiplies two halfwords by two others and adds both products. Two rows by two tokens
//! share what they load: the weights, extended to halfwords once for all tokens, and the activations
//! of a group of columns are a multiple load each, before eight `smlad` for sixteen multiply-adds.
//! Products of 16-bit vectors take the same loop.
//!
//! The functions are naked, because they need all fourteen registers that there are, and of
//! these the compiler keeps two for itself: hence the `unsafe` of this folder. Activations lie as
//! in `plain.rs`.
#![allow(unsafe_code)]

/// Makes the assembler know the extension where the architecture alone does not have it: the one
/// directive there is for that names a processor. The compiler's own options would not reach
/// every reading of the assembly, link-time optimisation being one.
#[cfg(feature = "dsp")]
macro_rules! extension {
    () => {
        ".cpu cortex-m33"
    };
}
#[cfg(not(feature = "dsp"))]
macro_rules! extension {
    () => {
        ""
    };
}

mod attention;
mod gates;
mod norm;
mod outputs;
mod pairs;
mod rows;
mod single;
mod steps;

use super::{Rescaling, Tile, plain};
use crate::net::kbz::PAIR_GROUP;

pub use plain::{set_paired, set_pairs, set_single};
/// Both factors of a product lie alike.
pub use rows::{Rows, Rows as Factors};

pub use steps::{
    Exponents, add_channel, attention, attention_of_exponents, hidden, norm, silu, store_each,
    sum_of_squares,
};

/// Words of a group of two tokens.
const TOKEN_GROUP: usize = PAIR_GROUP / 2;
/// Bytes of a chunk of weights.
const CHUNK_BYTES: usize = pairs::CHUNK * PAIR_GROUP;

pub fn pair_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    let (groups, tokens) = (tile.groups(), tile.tokens());
    if groups == 0 {
        return sums.fill(0);
    }
    let fits = weights.len() == groups * PAIR_GROUP && sums.len() == 2 * tokens && tokens >= 2;
    if !fits || !weights.as_ptr().cast::<u32>().is_aligned() {
        return debug_assert!(false, "factors and sums do not fit each other");
    }
    for (number, weights) in weights.chunks(CHUNK_BYTES).enumerate() {
        let words = tile.words().get(number * pairs::CHUNK * TOKEN_GROUP..).unwrap_or(&[]);
        let (chunk, sums) = (weights.len() / PAIR_GROUP, sums.as_mut_ptr());
        let skip = (groups - chunk) * TOKEN_GROUP * size_of::<u32>();
        let (weights, words) = (weights.as_ptr(), words.as_ptr());
        // SAFETY: `weights` has 8 bytes a group, aligned to 4, of at most a chunk and at least
        // one; a tile of several tokens, which are an even number, has 16 bytes a group and
        // pair, and `words` begins with the chunk's first; `sums` has two words a token.
        unsafe { pairs::extend_and_pair(weights, words, chunk, sums, tokens, skip, number) }
    }
}

#[inline(never)] // so that the loop over the rows has the registers to itself
pub fn single_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    let (pair, pairs) = (tile.groups() * PAIR_GROUP, sums.len() / 2);
    let fits = weights.len() == pairs * pair && tile.tokens() == 1;
    if weights.is_empty() {
        return sums.fill(0);
    }
    if !fits || !weights.as_ptr().cast::<u32>().is_aligned() {
        return debug_assert!(false, "factors and sums do not fit each other");
    }
    let (weights, words) = (weights.as_ptr(), tile.words().as_ptr());
    // SAFETY: `weights` has 8 bytes a group and pair, aligned to 4; a tile of one token has 16
    // bytes a group, of which the first half is used; `sums` has two words a pair, and there is
    // a pair.
    unsafe { single::single(weights, words, tile.groups(), sums.as_mut_ptr(), pairs) }
}
