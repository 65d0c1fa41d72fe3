//! What is done between the products, as Rust calls it. Each of these gives what the definition in
//! plain Rust does, and does nothing but say so where it does not apply.
use super::{
    Rescaling, Rows, TOKEN_GROUP, attention as softmax, gates,
    norm::{Scaling, scale, squares},
    outputs::{self, Clamp, Each},
};
use crate::{
    inputs::SQUARES,
    net::{
        infer::{
            arithmetic::{Shift, quotient},
            exp::{POWERS, WITHIN_BITS},
            kernel::{Exponents, Tile, Width},
            softmax::{POWER_DROP, RECIPROCAL},
        },
        kbz::GROUP,
    },
};

/// Whether `values` begin at a multiple of 4 bytes.
fn is_aligned<T>(values: &[T]) -> bool {
    values.as_ptr().cast::<u32>().is_aligned()
}

/// [`rescale_all`](crate::net::infer::arithmetic::rescale_all) without a bias.
pub fn rescale_all(values: &mut [i32], rescaling: &Rescaling, limit: i32) -> bool {
    let pairs = values.len() / 2;
    if pairs == 0 || !values.len().is_multiple_of(2) {
        return false;
    }
    // SAFETY: `values` has two words a pair, and there is one.
    unsafe { outputs::rescale_pairs(values.as_mut_ptr(), pairs, rescaling, limit) };
    true
}

/// Adds rescaled sums to a channel of a stream with rows of `width`.
pub fn add_channel(
    stream: &mut [i16],
    width: usize,
    channel: usize,
    sums: &[i32],
    rescaling: &Rescaling,
) -> bool {
    let rows = sums.len();
    if channel >= width || rows == 0 || stream.len() < rows * width {
        return false;
    }
    let stride = width * size_of::<i16>();
    let first = stream.as_mut_ptr().wrapping_add(channel);
    // SAFETY: there is a word of `sums` a row; the stream has as many rows, all with this channel.
    unsafe { outputs::add_channel(sums.as_ptr(), rows, first, stride, rescaling) };
    true
}

/// A column of pairs of tokens: where it begins, and the bytes from a pair to the next. `None` if
/// there are not so many tokens, or an odd number.
pub fn column_of(
    words: &mut [u32],
    groups: usize,
    column: usize,
    tokens: usize,
) -> Option<(*mut i16, usize)> {
    let pair = groups * TOKEN_GROUP;
    let fits = tokens > 0
        && tokens.is_multiple_of(2)
        && column < groups * GROUP
        && words.len() >= tokens / 2 * pair;
    let halves: &mut [i16] = bytemuck::cast_slice_mut(words);
    let first = column / GROUP * 2 * GROUP + column % GROUP;
    fits.then(|| (halves.as_mut_ptr().wrapping_add(first), pair * size_of::<u32>()))
}

impl Rows<'_> {
    /// Sets a row to sums rescaled into ±32,767.
    pub fn store_row(&mut self, row: usize, sums: &[i32], rescaling: &Rescaling) -> bool {
        let fours = self.groups;
        let whole = fours > 0 && sums.len() == fours * GROUP;
        let (Some(place), true) = (self.row_start(row), whole) else { return false };
        // SAFETY: there are four sums a group of columns, and a group; the row has as many.
        unsafe { outputs::store_row(sums.as_ptr(), fours, place, rescaling) };
        true
    }

    /// Where a row's first group is; the others are 16 bytes apart.
    fn row_start(&mut self, row: usize) -> Option<*mut u32> {
        let start = row / 2 * self.groups * TOKEN_GROUP + row % 2 * (TOKEN_GROUP / 2);
        (row < self.stride()).then(|| self.words.as_mut_ptr().wrapping_add(start))
    }
}

/// Where a token's columns from `first` on are, and the bytes from a group to the next.
fn row_of(
    tile: &mut Tile<'_>,
    token: usize,
    first: usize,
    count: usize,
) -> Option<(*mut u32, usize)> {
    let (groups, tokens) = (tile.groups(), tile.tokens());
    let whole = first.is_multiple_of(GROUP) && count.is_multiple_of(GROUP) && count > 0;
    if !whole || token >= tokens || first + count > groups * GROUP {
        return None;
    }
    let (words, step) = match tile.width() {
        Width::Single => (first / 2, TOKEN_GROUP / 2),
        Width::Narrow | Width::Wide => {
            let pair = token / 2 * groups + first / GROUP;
            (pair * TOKEN_GROUP + token % 2 * (TOKEN_GROUP / 2), TOKEN_GROUP)
        }
    };
    Some((tile.words_mut().as_mut_ptr().wrapping_add(words), step * size_of::<u32>()))
}

/// Sets columns of a token, from `first` on, to sums rescaled each by its own multiplier.
pub fn store_each(
    tile: &mut Tile<'_>,
    token: usize,
    first: usize,
    sums: &[i32],
    multipliers: &[[u8; 4]],
    rescaling: &Rescaling,
) -> bool {
    let (several, clamp) = (tile.tokens() > 1, Clamp::new(tile.limit()));
    let place = row_of(tile, token, first, sums.len());
    let (Some(clamp), Some((row, _)), true) = (clamp, place, several) else { return false };
    if multipliers.len() < sums.len() || !is_aligned(multipliers) || rescaling.left != 0 {
        return false;
    }
    let (sums, fours, multipliers) = (sums.as_ptr(), sums.len() / GROUP, multipliers.as_ptr());
    let each = Each { half: rescaling.half, right: rescaling.right, clamp };
    // SAFETY: there are four sums and multipliers, aligned to 4, a group of columns, and a group;
    // of several tokens, one's groups are 16 bytes apart.
    unsafe { outputs::store_each(sums, multipliers.cast(), fours, row, &each) };
    true
}

/// The sum of a row's squares, if it lies at a multiple of 4 bytes and in whole groups.
pub fn sum_of_squares(row: &[i16]) -> Option<u64> {
    let fits = is_aligned(row) && row.len().is_multiple_of(GROUP) && !row.is_empty();
    // SAFETY: `row` has a group of 8 bytes, and no part of one, aligned to 4.
    fits.then(|| unsafe { squares(row.as_ptr(), row.len() / GROUP) })
}

/// Normalizes a row, given the rescaling of each number times its gain, into a token's columns.
pub fn norm(
    row: &[i16],
    gains: &[[u8; 2]],
    rescaling: &Rescaling,
    tile: &mut Tile<'_>,
    token: usize,
) -> bool {
    let (count, clamp) = (row.len(), Clamp::new(tile.limit()));
    let place = row_of(tile, token, 0, count);
    let (Some(clamp), Some((out, step))) = (clamp, place) else { return false };
    if !is_aligned(row) || !is_aligned(gains) || gains.len() < count || rescaling.left != 0 {
        return false;
    }
    let Rescaling { multiplier: factor, half, right, .. } = *rescaling;
    let scaling = Scaling { factor, half, right, clamp, step };
    let (row, gains, fours) = (row.as_ptr(), gains.as_ptr().cast(), count / GROUP);
    // SAFETY: `row` and `gains` have whole groups of 8 bytes, at least one, aligned to 4, and so
    // has the token.
    unsafe { scale(row, gains, fours, out.cast(), &scaling) };
    true
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
    let expected = units == gates::SILU_UNITS && limit == gates::SILU_LIMIT;
    let fits = sums.len() == gates.len() && !sums.is_empty() && table.len() > 512;
    let table: *const i16 = table.as_ptr().cast();
    if !expected || !fits || !table.is_aligned() {
        return false;
    }
    let (count, sums, gates) = (sums.len(), sums.as_ptr(), gates.as_mut_ptr());
    // SAFETY: there are as many gates as sums, and there is one; the table has 513 halfwords.
    unsafe { gates::silu(sums, count, table, rescaling, left, gates) };
    true
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
    let (limit, groups) = (tile.limit(), tile.groups());
    let fits = gates.len() == sums.len() && tile.tokens() == sums.len();
    let place = column_of(tile.words_mut(), groups, column, sums.len());
    let (Some((first, stride)), true) = (place, fits && left <= rescaling.right) else {
        return false;
    };
    let right = shift.bits() + left - 32;
    let product = gates::Product { left, half: 1 << (right - 1), right, limit, stride };
    let (pairs, gates, sums) = (sums.len() / 2, gates.as_ptr(), sums.as_ptr());
    // SAFETY: there are two gates and two sums a pair of tokens, and a pair; the column has as many
    // places.
    unsafe { gates::hidden(gates, sums, pairs, first, rescaling, &product) };
    true
}

/// Turns the scores of a query into probabilities, in a row of `probabilities`. The scores are
/// overwritten.
pub fn attention(
    scores: &mut [i32; SQUARES],
    exponents: &Exponents<'_>,
    probabilities: &mut Rows<'_>,
    row: usize,
) -> bool {
    let Exponents { biases, score, bias } = exponents;
    let whole = probabilities.groups == SQUARES / GROUP;
    let (Some(row), true) = (probabilities.row_start(row), whole && score.left == 0) else {
        return false;
    };
    const { assert!(WITHIN_BITS == 9 && POWER_DROP == 6) };
    let scores = scores.as_mut_ptr();
    // SAFETY: there are 64 scores, of which either part is at most 2^29 in magnitude, and 64
    // biases; the table has a point for each of 128 segments and one for the end; the row has 16
    // groups.
    unsafe {
        let most = softmax::exponents(scores, biases.as_ptr(), score, bias);
        let dropped = most.cast_unsigned().wrapping_add(POWER_DROP << 16);
        let sum = softmax::powers(scores, dropped, POWERS.as_ptr());
        softmax::normalize(scores, quotient(1 << (RECIPROCAL - 32), sum), row);
    }
    true
}
