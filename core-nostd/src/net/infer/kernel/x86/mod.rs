//! The inner loops for x86-64, with the vectors that the processor has.
//!
//! Tokens lie side by side, one in each lane of a vector, so that sums need not be added across
//! lanes. Of several tokens, activations are halfwords: a word holds two columns of a token,
//! adjacent in the order of the weights, and the words of a pair's tokens follow one another; with
//! VNNI those of 8 bits are bytes, of which a word holds a group. Of a single token, activations are halfwords in the order of the weights, each group twice, once for
//! each row of a pair.
//!
//! Loads through pointers, and calls of functions compiled for vectors, are `unsafe`: hence the
//! `unsafe` of this folder. Loops in plain Rust serve older processors.
#![allow(unsafe_code)]
mod avx2;
mod avx512;
mod rows;
mod steps;
#[cfg(test)]
mod tests;

use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

use super::{Tile, Width};
use crate::{
    inputs::SQUARES,
    net::{
        infer::vectors::Vectors,
        kbz::{GROUP, PAIR_GROUP, place},
    },
};

pub use rows::{Factors, Rows};
pub use steps::{
    AllBiases, AllExponents, AllNumbers, AllProbabilities, ROWS, add_block, contexts, has_steps,
    hidden, norm_rows, probabilities, rescale_all, rescale_to, silu, sum_of_squares,
};

/// Pairs of rows whose sums are computed together: as many as there are registers for.
pub const PAIRS: usize = 2;

/// Four bytes that stand for zeros: bytes are 128 more than the activations, since the processor
/// multiplies bytes with a sign by bytes without.
pub const ZEROS: u32 = 0x8080_8080;

/// Whether activations of this width are bytes: those of 8 bits, where the processor has
/// instructions for sums of products of bytes.
pub fn are_bytes(width: Width) -> bool {
    width == Width::Narrow && Vectors::used() == Vectors::Avx512
}

/// Words of the activations `[tokens, columns]`, of which there are an even number or one.
pub const fn words(tokens: usize, columns: usize, width: Width) -> usize {
    let groups = columns.div_ceil(GROUP);
    match width {
        Width::Narrow | Width::Wide => groups * tokens * 2,
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

pub fn set_several(words: &mut [u32], tokens: usize, token: usize, column: usize, value: i16) {
    set_column(words, tokens, column, core::iter::once(value), token);
}

/// Sets groups of columns of one of several tokens, from `first` on, which begins a group.
pub fn set_row(
    words: &mut [u32],
    tokens: usize,
    token: usize,
    first: usize,
    groups: &[[i16; GROUP]],
) {
    let places = words.get_mut(first / GROUP * 2 * tokens + token..).unwrap_or(&mut []);
    let halves = |a: i16, b: i16| u32::from(a.cast_unsigned()) | u32::from(b.cast_unsigned()) << 16;
    let pairs = groups.iter().flat_map(|&[a, b, c, d]| [halves(a, c), halves(b, d)]);
    places.iter_mut().step_by(tokens).zip(pairs).for_each(|(place, pair)| *place = pair);
}

/// The same of bytes.
pub fn set_row_bytes(
    words: &mut [u32],
    tokens: usize,
    token: usize,
    first: usize,
    groups: &[[i16; GROUP]],
) {
    let places = words.get_mut(first / GROUP * tokens + token..).unwrap_or(&mut []);
    let group = |&[a, b, c, d]: &[i16; GROUP]| u32::from_le_bytes([a, c, b, d].map(|x| x as u8));
    let groups = groups.iter().map(|x| group(x) ^ ZEROS);
    places.iter_mut().step_by(tokens).zip(groups).for_each(|(place, group)| *place = group);
}

/// Sets a column of the tokens from `first` on.
pub fn set_column(
    words: &mut [u32],
    tokens: usize,
    column: usize,
    values: impl Iterator<Item = i16>,
    first: usize,
) {
    let place = place(column);
    let pair = column / GROUP * 2 + place / 2;
    let words = words.get_mut(pair * tokens + first..).unwrap_or(&mut []);
    let pairs = bytemuck::cast_slice_mut::<u32, [i16; 2]>(words);
    pairs.iter_mut().zip(values).for_each(|(pair, value)| pair[place % 2] = value);
}

/// Sets a column of the bytes of the tokens from `first` on.
pub fn set_bytes(
    words: &mut [u32],
    tokens: usize,
    column: usize,
    values: impl Iterator<Item = i16>,
    first: usize,
) {
    let words = words.get_mut(column / GROUP * tokens + first..).unwrap_or(&mut []);
    let groups = bytemuck::cast_slice_mut::<u32, [u8; GROUP]>(words);
    let zero = ZEROS as u8;
    groups.iter_mut().zip(values).for_each(|(group, x)| group[place(column)] = x as u8 ^ zero);
}

/// Bytes of a line of cache.
const LINE: usize = 64;
/// Groups of columns that are multiplied together.
const CHUNK: usize = 32;

/// A pair of rows of a chunk, as halfwords in the order of the weights.
type Extended = [[i16; CHUNK * GROUP]; 2];

/// The weights, at most a chunk, as halfwords.
fn extend(weights: &[Pair], rows: &mut Extended) {
    let [first, second] = rows;
    let done = match Vectors::used() {
        Vectors::Target => 0,
        // SAFETY: only vectors that the processor has are used.
        Vectors::Avx2 | Vectors::Avx512 => unsafe {
            avx2::extend(weights, first.as_chunks_mut().0, second.as_chunks_mut().0)
        },
    };
    let outs = first.as_chunks_mut::<GROUP>().0.iter_mut().zip(second.as_chunks_mut::<GROUP>().0);
    for (pair, (first, second)) in weights.iter().zip(outs).skip(done) {
        let [a, b, c, d, e, f, g, h] = pair.map(i16::from);
        (*first, *second) = ([a, b, c, d], [e, f, g, h]);
    }
}

/// Asks for the bytes that are wanted as long after `weights` as these are long: the next rows'.
fn prefetch_after(weights: &[i8], part: usize, parts: usize) {
    let lines = weights.len().div_ceil(LINE);
    for line in part * lines / parts..(part + 1) * lines / parts {
        let next = weights.as_ptr().wrapping_add(weights.len() + line * LINE);
        // SAFETY: an address is only asked for: it may be any.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(next) }
    }
}

/// The sums of one or two pairs of rows for the words of some tokens, as many as a row has sums.
pub fn pair_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    let (tokens, groups) = (tile.tokens(), tile.groups());
    if groups == 0 {
        return sums.fill(0);
    }
    // Bytes stay bytes, whatever the vectors were limited to since they were set.
    if tile.are_bytes() || Vectors::used() == Vectors::Avx512 {
        return sums_by_512_bits(weights, tile, sums);
    }
    let mut extended = [[[0; CHUNK * GROUP]; 2]; PAIRS];
    sums.fill(0);
    let bytes = weights;
    let weights = weights.as_chunks::<PAIR_GROUP>().0;
    let (first, second) = weights.split_at(groups.min(weights.len()));
    let words = tile.words().chunks(CHUNK * 2 * tokens);
    let parts = groups.div_ceil(CHUNK);
    for (number, words) in words.enumerate() {
        prefetch_after(bytes, number, parts);
        let start = number * CHUNK;
        let chunk = |pair: &[Pair]| start.min(pair.len())..pair.len().min(start + CHUNK);
        let length = chunk(first).len() * GROUP;
        let [a, b] = &mut extended;
        extend(&first[chunk(first)], a);
        if second.is_empty() {
            let [a, b] = a.each_ref().map(|row| &row[..length]);
            add_products([a, b], words, sums);
        } else {
            extend(&second[chunk(second)], b);
            let [a, b] = [a, b].map(|pair| pair.each_ref().map(|row| &row[..length]));
            add_products([a[0], a[1], b[0], b[1]], words, sums);
        }
    }
}

/// [`pair_sums`] with 512 bits.
fn sums_by_512_bits(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    let (words, groups) = (tile.words(), tile.groups());
    prefetch_after(weights, 0, 1);
    let weights = weights.as_chunks::<PAIR_GROUP>().0;
    let (first, second) = weights.split_at(groups.min(weights.len()));
    let rows = if second.is_empty() { 2 } else { 4 };
    let words_of_group = if tile.are_bytes() { 1 } else { 2 };
    assert!(first.len() == groups && (second.is_empty() || second.len() == groups));
    assert!(sums.len() == rows * tile.tokens());
    assert!(words.len() >= groups * words_of_group * tile.tokens());
    // SAFETY: the processor has these vectors, or no tile would be of bytes; the lengths are as
    // wanted.
    unsafe {
        match (rows, tile.are_bytes()) {
            (2, true) => avx512::byte_products([first], words, sums),
            (2, false) => avx512::half_products([first], words, sums),
            (_, true) => avx512::byte_products([first, second], words, sums),
            (_, false) => avx512::half_products([first, second], words, sums),
        }
    }
}

/// Adds products of rows by the words of tokens, which hold two columns each:
/// `sums[r · tokens + t] += Σ rows[r][i] · words[i / 2 · tokens + t][i % 2]`. There are as many
/// tokens as a row has sums.
fn add_products<const R: usize>(rows: [&[i16]; R], words: &[u32], sums: &mut [i32]) {
    let tokens = sums.len() / R;
    let length = rows[0].len();
    assert!(rows.iter().all(|row| row.len() == length));
    assert!(sums.len() == R * tokens && words.len() >= length.div_ceil(2) * tokens);
    match Vectors::used() {
        // SAFETY: only vectors that the processor has are used.
        Vectors::Avx512 => unsafe { avx512::add_products(rows, words, sums) },
        // SAFETY: as above.
        Vectors::Avx2 => unsafe { avx2::add_products(rows, words, sums) },
        Vectors::Target => {
            for (row, sums) in rows.into_iter().zip(sums.chunks_exact_mut(tokens.max(1))) {
                add_row(row, words, sums);
            }
        }
    }
}

/// [`add_products`] for one row, in plain Rust.
fn add_row(row: &[i16], words: &[u32], sums: &mut [i32]) {
    let pairs: &[[i16; 2]] = bytemuck::cast_slice(words);
    for (numbers, pairs) in row.chunks(2).map(two).zip(pairs.chunks_exact(sums.len())) {
        for (sum, x) in sums.iter_mut().zip(pairs) {
            let products = [0, 1].map(|i| i32::from(numbers[i]) * i32::from(x[i]));
            *sum = sum.wrapping_add(products[0]).wrapping_add(products[1]);
        }
    }
}

/// A pair of a row's numbers, the last one with a zero.
fn two(numbers: &[i16]) -> [i16; 2] {
    [numbers[0], numbers.get(1).copied().unwrap_or(0)]
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

/// The dots of two vectors and rows whose columns lie in pairs, those of all rows side by side.
/// `sums` has two numbers a row.
pub fn row_dots(vectors: [&[i16]; 2], rows: &[i16], sums: &mut [i32]) {
    sums.fill(0);
    add_products(vectors, bytemuck::cast_slice(rows), sums);
}

/// `ys = (max(x, 0) + remainder(|x|)) · 2^left`, as `Curves` has it, of as many of `xs` as the
/// processor has vectors for; returns their number. The bits are those of the interpolation, of
/// the shift after it, and `left`.
pub fn gated(table: &[[u8; 2]], bits: [u32; 3], xs: &[i32], ys: &mut [i32]) -> usize {
    const STEP: usize = 8;
    if table.len() < 2 || Vectors::used() < Vectors::Avx2 {
        return 0;
    }
    let (xs, ys) = (xs.as_chunks::<STEP>().0, ys.as_chunks_mut::<STEP>().0);
    for (x, y) in xs.iter().zip(&mut *ys) {
        // SAFETY: the processor has these vectors; the table has an interval.
        unsafe { avx2::gated(table, bits, x, y) };
    }
    xs.len().min(ys.len()) * STEP
}

/// [`attention`](crate::net::infer::softmax::attention), if these vectors are used and no wider
/// ones.
pub fn attention(scores: &[i32; SQUARES], probabilities: &mut [i16; SQUARES]) -> bool {
    let done = Vectors::used() == Vectors::Avx2;
    if done {
        // SAFETY: the processor has these vectors.
        unsafe { avx2::attention(scores, probabilities) };
    }
    done
}
