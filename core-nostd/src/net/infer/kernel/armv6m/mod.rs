//! The inner loops for Cortex-M0 and M0+, which multiply 32 by 32 bits and have eight registers
//! that do more than move and add.
//!
//! A row meets four tokens at once, two columns at a time: their weights are extended once, and the
//! products take the activations' registers. Activations lie as `packed.rs` says. Where two share a
//! word, `x + 2^15 + y·2^16`, an arithmetic shift gives y, and the word as a whole is multiplied for
//! x: its sum B = Σ w·word counts modulo 2^32, so that Σ w·x = B − 2^16·Σ w·y − 2^15·Σ w.
//!
//! The functions are naked, because they need every register: hence the `unsafe` of this folder.
#![allow(unsafe_code)]

/// Saves the registers that a function must restore, 36 bytes; of these, high ones go by low ones.
macro_rules! save {
    () => {
        "
        push    {{r4, r5, r6, r7, lr}}
        mov     r4, r8
        mov     r5, r9
        mov     r6, r10
        mov     r7, r11
        push    {{r4, r5, r6, r7}}
        "
    };
}

/// Restores what `save` saved, and returns.
macro_rules! restore {
    () => {
        "
        pop     {{r4, r5, r6, r7}}
        mov     r8, r4
        mov     r9, r5
        mov     r10, r6
        mov     r11, r7
        pop     {{r4, r5, r6, r7, pc}}
        "
    };
}

mod blocks;
mod rescale;
mod rows;
mod single;

use super::{Rescaling, Tile, packed, tile::holds_words};
use crate::net::kbz::{GROUP, PAIR_GROUP};
use blocks::{bytes_by_halves, bytes_by_words};

pub use packed::{set_paired, set_pairs, set_single};
pub use rows::{Factors, Rows};

pub fn pair_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    let (groups, tokens) = (tile.groups(), tile.tokens());
    let fits = weights.len() == groups * PAIR_GROUP && sums.len() == 2 * tokens;
    let whole = groups > 0 && tokens > 0 && tokens.is_multiple_of(packed::BLOCK);
    if !fits || !whole || !weights.as_ptr().cast::<u32>().is_aligned() {
        return packed::pair_sums(weights, tile, sums);
    }
    let row = if holds_words(tokens) { bytes_by_words } else { bytes_by_halves };
    let (weights, words) = (weights.as_ptr(), tile.words().as_ptr());
    let sums = sums.as_mut_ptr();
    // SAFETY: from the first row's first byte and from the second's, `weights` has 8 bytes a
    // group less the 4 of the other row, aligned to 4, and there is a group; a tile of several
    // tokens, here a multiple of 4, has 4 or 2 words a group and token, as they are held; `sums` has
    // two words a token, the first row's before the second's.
    unsafe {
        row(weights, words, groups, sums, tokens);
        row(weights.add(GROUP), words, groups, sums.add(tokens), tokens);
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
    // SAFETY: `weights` has 8 bytes a group and pair, aligned to 4, and there is a pair that has a
    // group; a tile of one token has 16 bytes a group; `sums` has two words a pair.
    unsafe { single::single(weights, words, tile.groups(), sums.as_mut_ptr(), pairs) }
}

/// [`rescale_all`](crate::net::infer::arithmetic::rescale_all) without a bias.
pub fn rescale_all(values: &mut [i32], rescaling: &Rescaling, limit: i32) {
    let (first, count) = (values.as_mut_ptr(), values.len());
    if count > 0 {
        // SAFETY: there are so many words, and there is one.
        unsafe { rescale::rescale_all(first, count, rescaling, limit) }
    }
}
