//! The inner loops in plain Rust.
//!
//! Activations are halfwords. Those of one token lie in order; those of a pair of tokens
//! alternate, four columns of the first and four of the second.
use super::Tile;
use crate::net::kbz::{GROUP, PAIR_GROUP, place};

/// Groups whose weights are extended at a time, for all tokens.
const CHUNK: usize = 16;
/// A group of both rows, each extended and repeated for the two tokens of a pair.
type Extended = [[i16; PAIR_GROUP]; 2];

pub fn set_single(words: &mut [u32], column: usize, value: i16) {
    set(words, column, value);
}

pub fn set_paired(
    words: &mut [u32],
    _: usize,
    groups: usize,
    token: usize,
    column: usize,
    value: i16,
) {
    let pair = token / 2 * groups + column / GROUP;
    set(words, pair * PAIR_GROUP + token % 2 * GROUP + column % GROUP, value);
}

/// Sets a column of pairs of tokens.
pub fn set_pairs(
    words: &mut [u32],
    _: usize,
    groups: usize,
    column: usize,
    pairs: impl Iterator<Item = [i16; 2]>,
) {
    let halves: &mut [i16] = bytemuck::cast_slice_mut(words);
    let start = column / GROUP * PAIR_GROUP + column % GROUP;
    let places =
        halves.get_mut(start..).unwrap_or(&mut []).chunks_mut((groups * PAIR_GROUP).max(1));
    for (place, [first, second]) in places.zip(pairs) {
        if let [a, _, _, _, b, ..] = place {
            (*a, *b) = (first, second);
        }
    }
}

fn set(words: &mut [u32], at: usize, value: i16) {
    if let Some(half) = bytemuck::cast_slice_mut(words).get_mut(at) {
        *half = value;
    }
}

pub fn single_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    let halves: &[i16] = bytemuck::cast_slice(tile.words());
    let pairs = weights.chunks_exact((tile.groups() * PAIR_GROUP).max(1));
    for (weights, sums) in pairs.zip(sums.as_chunks_mut::<2>().0) {
        *sums = single(weights, halves);
    }
}

/// The sums of both rows for one token.
fn single(weights: &[i8], halves: &[i16]) -> [i32; 2] {
    let mut sums = [[0i32; 2]; 2];
    let groups = weights.as_chunks::<PAIR_GROUP>().0.iter().zip(halves.as_chunks::<GROUP>().0);
    for (weights, x) in groups {
        for (row, sums) in sums.iter_mut().enumerate() {
            let product =
                |column| i32::from(weights[row * GROUP + place(column)]) * i32::from(x[column]);
            sums[0] = sums[0].wrapping_add(product(0)).wrapping_add(product(1));
            sums[1] = sums[1].wrapping_add(product(2)).wrapping_add(product(3));
        }
    }
    sums.map(|[a, b]| a.wrapping_add(b))
}

pub fn pair_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    let halves: &[i16] = bytemuck::cast_slice(tile.words());
    let pair = (tile.groups() * PAIR_GROUP).max(1);
    sums.fill(0);
    let (first, second) = sums.split_at_mut(sums.len() / 2);
    let mut extended = [Extended::default(); CHUNK];
    for (number, chunk) in weights.chunks(CHUNK * PAIR_GROUP).enumerate() {
        let chunk = chunk.as_chunks::<PAIR_GROUP>().0;
        extended.iter_mut().zip(chunk).for_each(|(out, group)| *out = extend(group));
        let extended = &extended[..chunk.len().min(CHUNK)];
        let tokens = halves.chunks_exact(pair);
        let sums = first.as_chunks_mut::<2>().0.iter_mut().zip(second.as_chunks_mut::<2>().0);
        for (x, (first, second)) in tokens.zip(sums) {
            let x = x.get(number * CHUNK * PAIR_GROUP..).unwrap_or(&[]);
            let [a, b] = block(extended, x.as_chunks::<PAIR_GROUP>().0);
            for token in 0..2 {
                first[token] = first[token].wrapping_add(a[token]);
                second[token] = second[token].wrapping_add(b[token]);
            }
        }
    }
}

/// A group's weights as halfwords in the columns' order.
fn extend(group: &[i8; PAIR_GROUP]) -> Extended {
    let weight = |row: usize, i: usize| i16::from(group[row * GROUP + place(i % GROUP)]);
    core::array::from_fn(|row| core::array::from_fn(|i| weight(row, i)))
}

/// Sums `[row][token]` over some groups, by products of adjacent columns: what `pmaddwd` and its
/// like add in one instruction.
fn block(weights: &[Extended], x: &[[i16; PAIR_GROUP]]) -> [[i32; 2]; 2] {
    let mut sums = [[0i32; GROUP]; 2];
    for (weights, x) in weights.iter().zip(x) {
        for (sums, weights) in sums.iter_mut().zip(weights) {
            for (i, sum) in sums.iter_mut().enumerate() {
                let product = |i: usize| i32::from(weights[i]) * i32::from(x[i]);
                *sum = sum.wrapping_add(product(2 * i).wrapping_add(product(2 * i + 1)));
            }
        }
    }
    sums.map(|[a, b, c, d]| [a.wrapping_add(b), c.wrapping_add(d)])
}

pub fn dots(vector: &[i16], rows: &[i16], sums: &mut [i32]) {
    for (sum, row) in sums.iter_mut().zip(rows.chunks_exact(vector.len().max(1))) {
        let products = vector.iter().zip(row).map(|(&a, &b)| i32::from(a) * i32::from(b));
        *sum = products.fold(0, i32::wrapping_add);
    }
}
