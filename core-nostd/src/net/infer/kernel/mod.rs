//! The inner loops: every multiply-add of the network runs in one of these functions.
//!
//! | file | runs on |
//! | --- | --- |
//! | `plain.rs` | every target, and vectorizes |
//! | `dsp` | Cortex-M with the DSP extension: M4, M7, M33, M55 |
//! | `armv6m`, `packed.rs` | Cortex-M0, M0+ |
//! | `x86` | x86-64 with a standard library |
//!
//! Sums are exact: [`Width::limit`] and [`pair_limit`](super::arithmetic::pair_limit) keep every
//! sum, in any order, inside 32 bits. Wrapping addition only spares the check, so that loops
//! vectorize. All kernels read the weights' one [`Layout`](crate::net::kbz::Layout); how
//! activations lie in memory is theirs, behind [`Tile`].
#[cfg(kernels = "armv6m")]
mod armv6m;
#[cfg(kernels = "dsp")]
mod dsp;
#[cfg(any(test, kernels = "armv6m"))]
#[cfg_attr(not(kernels = "armv6m"), allow(dead_code))]
mod packed;
#[cfg_attr(any(kernels = "armv6m", kernels = "dsp", kernels = "x86"), allow(dead_code))]
mod plain;
#[cfg(any(kernels = "dsp", kernels = "armv6m", kernels = "x86"))]
mod rescaling;
#[cfg_attr(kernels = "dsp", allow(dead_code))]
mod rows;
mod tile;
mod width;
#[cfg(kernels = "x86")]
mod x86;

#[cfg(kernels = "armv6m")]
use armv6m as chosen;
#[cfg(kernels = "dsp")]
use dsp as chosen;
#[cfg(not(any(kernels = "dsp", kernels = "armv6m", kernels = "x86")))]
use plain as chosen;
#[cfg(kernels = "x86")]
use x86 as chosen;

#[cfg(kernels = "armv6m")]
pub use chosen::rescale_all;
#[cfg(kernels = "dsp")]
pub use chosen::{Exponents, add_channel, attention, attention_of_exponents, norm, store_each};
#[cfg(any(kernels = "dsp", kernels = "armv6m", kernels = "x86"))]
pub use chosen::{Factors, Rows};
#[cfg(any(kernels = "dsp", kernels = "x86"))]
pub use chosen::{hidden, silu, sum_of_squares};
#[cfg(any(kernels = "dsp", kernels = "armv6m", kernels = "x86"))]
pub use rescaling::Rescaling;
pub use rows::{Columns, dot_sums, factor_halves, row_halves};
#[cfg(not(any(kernels = "dsp", kernels = "armv6m", kernels = "x86")))]
pub use rows::{Rows, Rows as Factors};
pub use tile::{Tile, WORD_TOKENS, tile_words, words};
pub use width::Width;
#[cfg(kernels = "x86")]
pub use x86::{
    AllBiases, AllExponents, AllNumbers, AllProbabilities, PAIRS, ROWS, add_block, attention,
    contexts, gated, norm_rows, probabilities, rescale_all, rescale_to,
};

/// The sums of a pair of rows for every token of `tile`, which has several:
/// `sums[r · tokens + t]` is `Σ weight[r, c] · activation[t, c]`.
///
/// `weights` are the pair's bytes, of as many groups of columns as the tile has, and `sums` has
/// two numbers a token. On x86-64 there may be `PAIRS` pairs, with as many sums each.
pub fn pair_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    chosen::pair_sums(weights, tile, sums);
}

/// The sums of pairs of rows for the only token of `tile`.
///
/// `weights` are whole pairs, of as many groups of columns as the tile has, and `sums` has two
/// numbers a pair.
pub fn single_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    chosen::single_sums(weights, tile, sums);
}

/// `Σ a[i] · b[i]` of 16-bit factors.
pub fn dot(a: &[i16], b: &[i16]) -> i32 {
    let mut sum = [0];
    plain::dots(a, b, &mut sum);
    sum[0]
}
