//! What is done between the products, with 512 bits. Each of these gives what the definition in plain
//! Rust does, and does nothing but say so where it does not apply.
//!
//! There is a [`Rescaling`] only where the processor has these vectors.
pub use super::avx512::ROWS;
use super::{Rows, ZEROS, add_products, avx512};
use crate::{
    inputs::SQUARES,
    net::{
        infer::{
            arithmetic::Shift,
            kernel::{Columns, Rescaling, Tile},
            parts::part_mut,
            vectors::{LANES, Vectors},
        },
        kbz::{GROUP, place},
    },
};

/// The lower half of every word, and its lowest byte.
const HALVES: u64 = 0x3333_3333_3333_3333;
const BYTES: u64 = 0x1111_1111_1111_1111;

/// Whether there is a [`Rescaling`].
pub fn has_steps() -> bool {
    Vectors::used() == Vectors::Avx512
}

/// [`rescale_all`](crate::net::infer::arithmetic::rescale_all) without a bias.
pub fn rescale_all(values: &mut [i32], rescaling: &Rescaling, limit: i32) {
    // SAFETY: a rescaling says that the processor has these vectors.
    unsafe { avx512::rescale_all(values, rescaling, limit) };
}

/// Rescaled sums, in `out`.
pub fn rescale_to(sums: &[i32], rescaling: &Rescaling, out: &mut [i32]) {
    // SAFETY: a rescaling says that the processor has these vectors.
    unsafe { avx512::rescale_to(sums, rescaling, out) };
}

/// Adds sixteen channels, from `first` on, to all rows of a stream, if there are vectors for it.
pub fn add_block(
    stream: &mut [i16],
    width: usize,
    first: usize,
    block: &[[i32; SQUARES]; LANES],
) -> bool {
    let done = has_steps() && width > 0;
    if done {
        // SAFETY: the processor has these vectors.
        unsafe { avx512::add_block(stream, width, first, block) };
    }
    done
}

/// The words of a column's tokens, and its place in them.
fn column_of<'t>(tile: &'t mut Tile<'_>, column: usize) -> (&'t mut [u32], avx512::Place) {
    let (place, tokens) = (place(column), tile.tokens());
    let (word, place) = match tile.are_bytes() {
        true => {
            let shift = 8 * place as u32;
            (column / GROUP, avx512::Place { shift, bytes: BYTES << place, flip: ZEROS })
        }
        false => (column / GROUP * 2 + place / 2, half_of(place)),
    };
    (part_mut(tile.words_mut(), word * tokens, tokens), place)
}

/// The lower or the upper half of every word.
pub fn half_of(place: usize) -> avx512::Place {
    let half = place % 2;
    avx512::Place { shift: 16 * half as u32, bytes: HALVES << (2 * half), flip: 0 }
}

/// The sum of a row's squares, if there are vectors for it.
pub fn sum_of_squares(row: &[i16]) -> Option<u64> {
    // SAFETY: only vectors that the processor has are used.
    has_steps().then(|| unsafe { avx512::sum_of_squares(row) })
}

/// Normalizes rows, given the rescalings of each number times its gain, into the tokens from `first`
/// on.
pub fn norm_rows(
    rows: &[i16],
    gains: &[[u8; 2]],
    rescalings: &[Rescaling; ROWS],
    tile: &mut Tile<'_>,
    first: usize,
) {
    let (stride, limit) = (tile.tokens(), tile.limit());
    let flip = tile.are_bytes().then_some(ZEROS);
    let mut tokens = avx512::Tokens { words: tile.words_mut(), stride, first, limit, flip };
    // SAFETY: a rescaling says that the processor has these vectors.
    unsafe { avx512::norm_rows(rows, gains, rescalings, &mut tokens) };
}

/// SiLU of rescaled sums, `table` at `units` as `Curves` has them, shifted by `left` into `gates`.
pub fn silu(
    table: &[[u8; 2]],
    units: (u32, u32),
    limit: i32,
    sums: &[i32],
    rescaling: &Rescaling,
    left: u32,
    gates: &mut [i32],
) -> bool {
    let fits = table.len() > 1;
    if fits {
        let bits = [units.0, units.1, left];
        // SAFETY: a rescaling says that the processor has these vectors; the table has an interval.
        unsafe { avx512::silu(table, bits, sums, rescaling, limit, gates) };
    }
    fits
}

/// Sets a column of a tile to rescaled sums times their gates, shifted by `shift`.
pub fn hidden(
    gates: &[i32],
    sums: &[i32],
    rescaling: &Rescaling,
    shift: Shift,
    tile: &mut Tile<'_>,
    column: usize,
) -> bool {
    // A sum of which so many bits went has room for as many.
    let left = 33u32.saturating_sub(shift.bits());
    let right = shift.bits() + left - 32;
    let product = avx512::Product { left, half: 1 << (right - 1), right, limit: tile.limit() };
    let fits = left <= rescaling.right && tile.tokens() > 1;
    if fits {
        let (words, place) = column_of(tile, column);
        // SAFETY: a rescaling says that the processor has these vectors.
        unsafe { avx512::hidden(gates, sums, rescaling, product, words, place) };
    }
    fits
}

impl Columns for Tile<'_> {
    fn set_column(&mut self, column: usize, values: impl Iterator<Item = i16>) {
        Tile::set_column(self, column, values);
    }

    fn store_column(
        &mut self,
        column: usize,
        sums: &[i32],
        rescaling: &Rescaling,
        limit: i32,
    ) -> bool {
        let (words, place) = column_of(self, column);
        // SAFETY: a rescaling says that the processor has these vectors.
        unsafe { avx512::store_column(words, place, sums, rescaling, limit) };
        true
    }
}

/// Of every key a number for each query.
pub type AllNumbers = [[i32; SQUARES]; SQUARES];

/// Of every two keys a word for each query, whose halves are their probabilities.
pub type AllProbabilities = [[u32; SQUARES]; SQUARES / 2];

/// What makes binary exponents of all queries' scores.
#[derive(Debug)]
pub struct AllExponents<'a> {
    pub score: Rescaling,
    pub biases: Option<AllBiases<'a>>,
}

/// For every query a bias for each key.
#[derive(Debug, Clone, Copy)]
pub struct AllBiases<'a> {
    pub bytes: &'a [i8; SQUARES * SQUARES],
    /// What rescales them, but for the multiplier.
    pub rescaling: Rescaling,
    /// Every query's, little-endian.
    pub multipliers: &'a [[u8; 4]; SQUARES],
}

/// The probabilities of all keys for all queries, by way of `numbers`, whose contents do not matter.
pub fn probabilities(
    queries: &Rows<'_>,
    keys: &Rows<'_>,
    exponents: &AllExponents<'_>,
    numbers: &mut AllNumbers,
    words: &mut AllProbabilities,
) {
    // SAFETY: a rescaling says that the processor has these vectors.
    unsafe { avx512::probabilities(queries.words(), keys.words(), exponents, numbers, words) };
}

/// The sums of some rows of values by all queries' probabilities.
pub fn contexts<const R: usize>(
    values: [&[i16]; R],
    words: &AllProbabilities,
) -> [[i32; SQUARES]; R] {
    let mut sums = [[0; SQUARES]; R];
    add_products(values, words.as_flattened(), sums.as_flattened_mut());
    sums
}
