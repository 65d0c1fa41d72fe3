//! The inner loops for x86-64, with the vectors that the processor has.
//!
//! Tokens lie side by side, one in each lane of a vector, so that sums need not be added across
//! lanes. Of several tokens, activations are bytes plus 128, without sign: a word holds a group's
//! four columns of a token in the order of the weights, and the words of a group's tokens follow
//! one another. VNNI multiplies unsigned bytes by signed ones; what 128 adds is taken off by the
//! sum of a row's weights. AVX2 takes the 128 off first. Wide ones are halfwords: a word holds two
//! columns of a token, adjacent in the order of the weights. Of a single token, activations are
//! halfwords in the order of the weights, each group twice, once for each row of a pair.
//!
//! Loads through pointers, and calls of functions compiled for vectors, are `unsafe`: hence the
//! `unsafe` of this folder. Loops in plain Rust do what is left over, and all for older processors.
#![allow(unsafe_code)]
mod avx2;
mod avx512;
mod rows;
#[cfg(test)]
mod tests;

use super::{Tile, Width};
use crate::net::{
    infer::vectors::{Vectors, vectorized},
    kbz::{GROUP, PAIR_GROUP, place},
};

pub use rows::{Factors, Rows};

/// Four columns of a token that are zero.
pub const ZEROS: u32 = 0x8080_8080;

/// Words of the activations `[tokens, columns]`, of which there are an even number or one.
pub const fn words(tokens: usize, columns: usize, width: Width) -> usize {
    let groups = columns.div_ceil(GROUP);
    match width {
        Width::Narrow => groups * tokens,
        Width::Wide => groups * tokens * 2,
        Width::Single => groups * GROUP,
    }
}

/// A group's weights: four of the first row, four of the second.
type Pair = [i8; PAIR_GROUP];

pub fn set_single(words: &mut [u32], column: usize, value: i16) {
    let halves: &mut [i16] = bytemuck::cast_slice_mut(words);
    let at = column / GROUP * PAIR_GROUP + place(column);
    if let Some([first, _, _, _, second, ..]) = halves.get_mut(at..) {
        (*first, *second) = (value, value);
    }
}

pub fn set_several(
    words: &mut [u32],
    width: Width,
    tokens: usize,
    token: usize,
    column: usize,
    value: i16,
) {
    set_column(words, width, tokens, column, core::iter::once(value), token);
}

/// Sets columns of one of several tokens, from `first` on, which begins a group.
pub fn set_row(
    words: &mut [u32],
    width: Width,
    tokens: usize,
    token: usize,
    first: usize,
    values: &[i16],
) {
    let (groups, rest) = values.as_chunks::<GROUP>();
    let start = first / GROUP * if width == Width::Narrow { tokens } else { 2 * tokens } + token;
    let places = words.get_mut(start..).unwrap_or(&mut []);
    let halves = |a: i16, b: i16| u32::from(a.cast_unsigned()) | u32::from(b.cast_unsigned()) << 16;
    if width == Width::Narrow {
        for (place, &[a, b, c, d]) in places.iter_mut().step_by(tokens).zip(groups) {
            *place = u32::from_le_bytes([a, c, b, d].map(biased));
        }
    } else {
        let pairs = groups.iter().flat_map(|&[a, b, c, d]| [halves(a, c), halves(b, d)]);
        places.iter_mut().step_by(tokens).zip(pairs).for_each(|(place, pair)| *place = pair);
    }
    for (column, &value) in (first + groups.len() * GROUP..).zip(rest) {
        set_several(words, width, tokens, token, column, value);
    }
}

/// Sets a column of the tokens from `first` on.
pub fn set_column(
    words: &mut [u32],
    width: Width,
    tokens: usize,
    column: usize,
    values: impl Iterator<Item = i16>,
    first: usize,
) {
    let (group, place) = (column / GROUP, place(column));
    if width == Width::Narrow {
        let words = words.get_mut(group * tokens + first..).unwrap_or(&mut []);
        let bytes = bytemuck::cast_slice_mut::<u32, [u8; GROUP]>(words);
        bytes.iter_mut().zip(values).for_each(|(word, value)| word[place] = biased(value));
    } else {
        let pair = group * 2 + place / 2;
        let words = words.get_mut(pair * tokens + first..).unwrap_or(&mut []);
        let pairs = bytemuck::cast_slice_mut::<u32, [i16; 2]>(words);
        pairs.iter_mut().zip(values).for_each(|(pair, value)| pair[place % 2] = value);
    }
}

fn biased(value: i16) -> u8 {
    (value as u8).wrapping_add(128)
}

pub fn pair_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    let tokens = tile.tokens();
    let weights = weights.as_chunks::<PAIR_GROUP>().0;
    let Some((first, second)) = sums.split_at_mut_checked(tokens) else { return };
    let sums = [first, second];
    match Vectors::used() {
        // SAFETY: only vectors that the processor has are used.
        Vectors::Avx512 => unsafe { avx512::pair(weights, tile.words(), sums) },
        // SAFETY: as above.
        Vectors::Avx2 => unsafe { avx2::pair(weights, tile.words(), sums) },
        Vectors::Target => pair_from(0, weights, tile.words(), sums),
    }
}

/// The sums of the tokens from `start` on, in plain Rust.
fn pair_from(start: usize, weights: &[Pair], words: &[u32], sums: [&mut [i32]; 2]) {
    let tokens = sums[0].len();
    if start == tokens {
        return;
    }
    for (row, sums) in sums.into_iter().enumerate() {
        for (token, sum) in sums.iter_mut().enumerate().skip(start) {
            let words = words.iter().skip(token).step_by(tokens);
            *sum = weights.iter().zip(words).fold(0, |sum: i32, (weights, word)| {
                let weights = weights[row * GROUP..].iter();
                let products = weights.zip((word ^ ZEROS).to_le_bytes());
                products.fold(sum, |sum, (&w, x)| {
                    sum.wrapping_add(i32::from(w) * i32::from(x.cast_signed()))
                })
            });
        }
    }
}

/// Groups of wide columns that are multiplied together.
const CHUNK: usize = 32;

/// A group's weights as halfwords.
type WidePair = [i16; PAIR_GROUP];

/// The sums of wide activations.
pub fn wide_pair_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    let tokens = tile.tokens();
    let mut halves = [WidePair::default(); CHUNK];
    sums.fill(0);
    let Some((first, second)) = sums.split_at_mut_checked(tokens) else { return };
    let chunks = weights.as_chunks::<PAIR_GROUP>().0.chunks(CHUNK);
    for (weights, words) in chunks.zip(tile.words().chunks(CHUNK * 2 * tokens)) {
        extend(weights, &mut halves);
        let halves = &halves[..weights.len()];
        let sums = [&mut *first, &mut *second];
        match Vectors::used() {
            // SAFETY: only vectors that the processor has are used.
            Vectors::Avx512 => unsafe { avx512::add_wide_pair(halves, words, sums) },
            // SAFETY: as above.
            Vectors::Avx2 => unsafe { avx2::add_wide_pair(halves, words, sums) },
            Vectors::Target => add_wide_pair_from(0, halves, words, sums),
        }
    }
}

vectorized! {
    /// The weights, at most a chunk, as halfwords.
    fn extend(weights: &[Pair], halves: &mut [WidePair; CHUNK]) {
        for (half, &weight) in halves.as_flattened_mut().iter_mut().zip(weights.as_flattened()) {
            *half = weight.into();
        }
    }
}

/// Adds the sums of the tokens from `start` on, in plain Rust.
fn add_wide_pair_from(start: usize, weights: &[WidePair], words: &[u32], sums: [&mut [i32]; 2]) {
    let tokens = sums[0].len();
    if start == tokens {
        return;
    }
    let pairs: &[[i16; 2]] = bytemuck::cast_slice(words);
    for (row, sums) in sums.into_iter().enumerate() {
        for (token, sum) in sums.iter_mut().enumerate().skip(start) {
            let weights = weights.iter().flat_map(|pair| &pair.as_chunks::<2>().0[2 * row..][..2]);
            let activations = pairs.iter().skip(token).step_by(tokens);
            *sum = weights.zip(activations).fold(*sum, |sum, (w, x)| {
                let products = [0, 1].map(|i| i32::from(w[i]) * i32::from(x[i]));
                sum.wrapping_add(products[0]).wrapping_add(products[1])
            });
        }
    }
}

pub fn single_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    let halves: &[i16] = bytemuck::cast_slice(tile.words());
    let halves = halves.as_chunks::<PAIR_GROUP>().0;
    let pairs = weights.chunks_exact((tile.groups() * PAIR_GROUP).max(1));
    let used = Vectors::used();
    for (weights, sums) in pairs.zip(sums.as_chunks_mut::<2>().0) {
        let weights = weights.as_chunks::<PAIR_GROUP>().0;
        *sums = match used {
            // SAFETY: only vectors that the processor has are used.
            Vectors::Avx512 => unsafe { avx512::single(weights, halves) },
            // SAFETY: as above.
            Vectors::Avx2 => unsafe { avx2::single(weights, halves) },
            Vectors::Target => single_from(weights, halves, [0; 2]),
        };
    }
}

/// The sums of both rows of a pair, in plain Rust, on top of others.
fn single_from(weights: &[Pair], halves: &[[i16; PAIR_GROUP]], sums: [i32; 2]) -> [i32; 2] {
    weights.iter().zip(halves).fold(sums, |sums, (weights, x)| {
        let product = |i: usize| i32::from(weights[i]) * i32::from(x[i]);
        let row = |start: usize| {
            (start..start + GROUP).fold(0, |sum: i32, i| sum.wrapping_add(product(i)))
        };
        [sums[0].wrapping_add(row(0)), sums[1].wrapping_add(row(GROUP))]
    })
}

/// The dots of a vector and rows whose columns lie in pairs, those of all rows side by side.
pub fn row_dots(vector: &[i16], rows: &[i16], sums: &mut [i32]) {
    let pairs = rows.as_chunks::<2>().0;
    match Vectors::used() {
        // SAFETY: only vectors that the processor has are used.
        Vectors::Avx512 => unsafe { avx512::dots(vector, pairs, sums) },
        // SAFETY: as above.
        Vectors::Avx2 => unsafe { avx2::dots(vector, pairs, sums) },
        Vectors::Target => dots_from(0, vector, pairs, sums),
    }
}

/// A pair of the vector's numbers, the last one with a zero.
fn two(numbers: &[i16]) -> [i16; 2] {
    [numbers[0], numbers.get(1).copied().unwrap_or(0)]
}

/// The sums of the rows from `start` on, in plain Rust.
fn dots_from(start: usize, vector: &[i16], pairs: &[[i16; 2]], sums: &mut [i32]) {
    let count = sums.len();
    if start == count {
        return;
    }
    for (row, sum) in sums.iter_mut().enumerate().skip(start) {
        let pairs = pairs.iter().skip(row).step_by(count);
        *sum = vector.chunks(2).map(two).zip(pairs).fold(0, |sum: i32, ([a, b], &[x, y])| {
            let products = [(a, x), (b, y)].map(|(a, x)| i32::from(a) * i32::from(x));
            sum.wrapping_add(products[0]).wrapping_add(products[1])
        });
    }
}

/// A pair of numbers in every lane's word.
fn word([a, b]: [i16; 2]) -> i32 {
    i32::from(a) & 0xffff | i32::from(b) << 16
}

/// `ys = (max(x, 0) + remainder(|x|)) · 2^left`, as `Curves` has it, of as many of `xs` as the
/// processor has vectors for; returns their number. The bits are those of the interpolation, of
/// the shift after it, and `left`.
pub fn gated(table: &[[u8; 2]], bits: [u32; 3], xs: &[i32], ys: &mut [i32]) -> usize {
    let (vectors, step) = match Vectors::used() {
        Vectors::Avx512 => (xs.len().min(ys.len()) / 16, 16),
        Vectors::Avx2 => (xs.len().min(ys.len()) / 8, 8),
        Vectors::Target => return 0,
    };
    if table.len() < 2 {
        return 0;
    }
    for (x, y) in xs.chunks_exact(step).zip(ys.chunks_exact_mut(step)) {
        match (x.try_into(), y.try_into()) {
            // SAFETY: only vectors that the processor has are used; the table has an interval.
            (Ok(x), Ok(y)) if step == 16 => unsafe { avx512::gated(table, bits, x, y) },
            _ => {
                if let (Some(x), Some(y)) = (x.first_chunk(), y.first_chunk_mut()) {
                    // SAFETY: as above.
                    unsafe { avx2::gated(table, bits, x, y) }
                }
            }
        }
    }
    vectors * step
}
