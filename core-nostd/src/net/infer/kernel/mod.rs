//! The inner loops: every multiply-add of the network runs in one of these functions.
//!
//! | file | runs on |
//! | --- | --- |
//! | `plain.rs` | every target, and vectorizes |
//! | `dsp.rs` | Cortex-M with the DSP extension: M4, M7, M33, M55 |
//! | `armv6m.rs`, `packed.rs` | Cortex-M0, M0+ |
//! | `x86.rs` | x86-64 with a standard library |
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
#[cfg_attr(any(kernels = "armv6m", kernels = "x86"), allow(dead_code))]
mod plain;
mod rows;
mod tile;
mod width;
#[cfg(kernels = "x86")]
mod x86;

#[cfg(kernels = "armv6m")]
use armv6m as chosen;
#[cfg(not(kernels = "x86"))]
use chosen as row_major;
#[cfg(kernels = "dsp")]
use dsp as chosen;
#[cfg(not(any(kernels = "dsp", kernels = "armv6m", kernels = "x86")))]
use plain as chosen;
#[cfg(kernels = "x86")]
use {plain as row_major, x86 as chosen};

pub use rows::{Rows, row_halves};
pub use tile::{Tile, tile_words};
pub use width::Width;
#[cfg(kernels = "x86")]
pub use x86::{gated, words};

/// The sums of a pair of rows for every token of `tile`, which has several:
/// `sums[r · tokens + t]` is `Σ weight[r, c] · activation[t, c]`.
///
/// `weights` are the pair's bytes, of as many groups of columns as the tile has, and `sums` has
/// two numbers a token.
pub fn pair_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    match tile.width() {
        Width::Wide => chosen::wide_pair_sums(weights, tile, sums),
        Width::Narrow | Width::Single => chosen::pair_sums(weights, tile, sums),
    }
}

/// The sums of pairs of rows for the only token of `tile`.
///
/// `weights` are whole pairs, of as many groups of columns as the tile has, and `sums` has two
/// numbers a pair.
pub fn single_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    chosen::single_sums(weights, tile, sums);
}

/// `sums[i] = Σ vector[c] · rows[i, c]` of 16-bit factors; `rows` is row-major.
pub fn dots(vector: &[i16], rows: &[i16], sums: &mut [i32]) {
    row_major::dots(vector, rows, sums);
}

/// `Σ a[i] · b[i]` of 16-bit factors.
pub fn dot(a: &[i16], b: &[i16]) -> i32 {
    let mut sum = [0];
    dots(a, b, &mut sum);
    sum[0]
}
