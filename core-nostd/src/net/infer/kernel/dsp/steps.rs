//! What is done between the products, as Rust calls it. Each of these gives what the definition in
//! plain Rust does. Whole groups are done here; the callers do one by one what is left, and all of it
//! where a shift is smaller than those of real networks.
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
            curves::{ACTIVATION_LIMIT, CURVE_POINTS, units},
            exp::{POWERS, WITHIN_BITS},
            kernel::Tile,
            softmax::{POWER_DROP, RECIPROCAL},
        },
        kbz::{Curve, GROUP},
    },
};

/// Adds rescaled sums to a channel of a stream with rows of `width`.
pub fn add_channel(
    stream: &mut [i16],
    width: usize,
    channel: usize,
    sums: &[i32],
    rescaling: &Rescaling,
) {
    let rows = sums.len();
    if channel >= width || rows == 0 || stream.len() < rows * width {
        return debug_assert!(false, "sums and stream do not fit each other");
    }
    let stride = width * size_of::<i16>();
    let first = stream.as_mut_ptr().wrapping_add(channel);
    // SAFETY: there is a word of `sums` a row; the stream has as many rows, all with this channel.
    unsafe { outputs::add_channel(sums.as_ptr(), rows, first, stride, rescaling) }
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
    /// Sets a row to sums rescaled into ±32,767, of which there are whole groups.
    pub fn store_row(&mut self, row: usize, sums: &[i32], rescaling: &Rescaling) {
        let fours = sums.len() / GROUP;
        let fits = (1..=self.groups).contains(&fours);
        if let (Some(place), true) = (self.row_start(row), fits) {
            // SAFETY: there are four sums a group of columns, and a group; the row has as many.
            unsafe { outputs::store_row(sums.as_ptr(), fours, place, rescaling) }
        }
    }

    /// Where a row's first group is; the others are 16 bytes apart.
    fn row_start(&mut self, row: usize) -> Option<*mut u32> {
        let start = row / 2 * self.groups * TOKEN_GROUP + row % 2 * (TOKEN_GROUP / 2);
        (row < self.stride()).then(|| self.words.as_mut_ptr().wrapping_add(start))
    }
}

/// Where a token's columns from `first` on are, and the bytes from a group to the next. `None` if
/// they do not begin a group, or there are not `fours` groups, or none.
fn row_of(
    tile: &mut Tile<'_>,
    token: usize,
    first: usize,
    fours: usize,
) -> Option<(*mut u32, usize)> {
    let (groups, tokens) = (tile.groups(), tile.tokens());
    let fits = first.is_multiple_of(GROUP) && fours > 0 && first / GROUP + fours <= groups;
    if !fits || token >= tokens {
        return None;
    }
    let (words, step) = match tokens {
        1 => (first / 2, TOKEN_GROUP / 2),
        _ => {
            let pair = token / 2 * groups + first / GROUP;
            (pair * TOKEN_GROUP + token % 2 * (TOKEN_GROUP / 2), TOKEN_GROUP)
        }
    };
    Some((tile.words_mut().as_mut_ptr().wrapping_add(words), step * size_of::<u32>()))
}

/// Sets columns of a token, one of several, from `first` on, to sums rescaled each by its own
/// multiplier. Returns how many.
pub fn store_each(
    tile: &mut Tile<'_>,
    token: usize,
    first: usize,
    sums: &[i32],
    multipliers: &[[u8; 4]],
    shift: Shift,
) -> usize {
    let fours = sums.len().min(multipliers.len()) / GROUP;
    let (clamp, several) = (Clamp::new(tile.limit()), tile.tokens() > 1);
    let (Some(Rescaling { half, right, .. }), Some(clamp), Some((row, _)), true) =
        (Rescaling::new(0, shift, 0), clamp, row_of(tile, token, first, fours), several)
    else {
        return 0;
    };
    let (sums, multipliers) = (sums.as_ptr(), multipliers.as_ptr().cast());
    // SAFETY: there are four sums and multipliers a group of columns, and a group; of several
    // tokens, one's groups are 16 bytes apart.
    unsafe { outputs::store_each(sums, multipliers, fours, row, &Each { half, right, clamp }) };
    fours * GROUP
}

/// The sum of a row's squares.
pub fn sum_of_squares(row: &[i16]) -> u64 {
    let (fours, rest) = row.as_chunks::<GROUP>();
    let rest = rest.iter().map(|&x| u64::from(i32::from(x).pow(2).cast_unsigned())).sum();
    if fours.is_empty() {
        return rest;
    }
    // SAFETY: there is a group of 8 bytes, and no part of one.
    rest + unsafe { squares(row.as_ptr(), fours.len()) }
}

/// Normalizes a row, given the scale of each number times its gain, into a token's columns. Returns
/// how many.
pub fn norm(
    row: &[i16],
    gains: &[[u8; 2]],
    (factor, shift): (i32, Shift),
    tile: &mut Tile<'_>,
    token: usize,
) -> usize {
    let fours = row.len().min(gains.len()) / GROUP;
    let clamp = Clamp::new(tile.limit());
    let (Some(Rescaling { half, right, .. }), Some(clamp), Some((out, step))) =
        (Rescaling::new(factor, shift, 0), clamp, row_of(tile, token, 0, fours))
    else {
        return 0;
    };
    let scaling = Scaling { factor, half, right, clamp, step };
    let (row, gains) = (row.as_ptr(), gains.as_ptr().cast());
    // SAFETY: `row` and `gains` have so many groups of 8 bytes, at least one, and so has the token.
    unsafe { scale(row, gains, fours, out.cast(), &scaling) };
    fours * GROUP
}

/// SiLU of rescaled sums by its `table`, shifted by `left` into `gates`.
pub fn silu(table: &[[u8; 2]], sums: &[i32], rescaling: &Rescaling, left: u32, gates: &mut [i32]) {
    const { assert!(matches!(units(Curve::Silu), gates::SILU_UNITS)) };
    const { assert!(ACTIVATION_LIMIT == gates::SILU_LIMIT) };
    if sums.len() != gates.len() || sums.is_empty() || table.len() < CURVE_POINTS {
        return debug_assert!(false, "sums and gates do not fit each other");
    }
    let (count, sums, gates) = (sums.len(), sums.as_ptr(), gates.as_mut_ptr());
    // SAFETY: there are as many gates as sums, and there is one; the table has 513 halfwords.
    unsafe { gates::silu(sums, count, table.as_ptr().cast(), rescaling, left, gates) }
}

/// Sets a column of a tile of several tokens to sums times their gates, shifted by `shift`. Does
/// nothing but say so where the shifts are too small, and with one token.
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

/// What makes binary exponents of a query's scores.
#[derive(Debug)]
pub struct Exponents<'a> {
    /// A bias for each key.
    pub biases: &'a [i8; SQUARES],
    pub score: Rescaling,
    pub bias: Rescaling,
}

impl Exponents<'static> {
    /// Without biases.
    pub const fn of_scores(score: Rescaling) -> Self {
        let nothing = Rescaling { multiplier: 0, left: 0, half: 1, right: 1 };
        Exponents { biases: &[0; SQUARES], score, bias: nothing }
    }
}

/// Turns the scores of a query into probabilities, in a row of `probabilities`. The scores are
/// overwritten.
pub fn attention(
    scores: &mut [i32; SQUARES],
    Exponents { biases, score, bias }: &Exponents<'_>,
    probabilities: &mut Rows<'_>,
    row: usize,
) -> bool {
    // SAFETY: there are 64 scores and 64 biases.
    let most = unsafe { softmax::exponents(scores.as_mut_ptr(), biases.as_ptr(), score, bias) };
    from_powers(scores, most, probabilities, row);
    true
}

/// [`attention`] where the scores are binary exponents already.
pub fn attention_of_exponents(
    exponents: &mut [i32; SQUARES],
    probabilities: &mut Rows<'_>,
    row: usize,
) {
    let most = exponents.iter().copied().fold(i32::MIN, i32::max);
    // Of what lies as far below nothing is left, and a difference must not wrap.
    exponents.iter_mut().for_each(|x| *x = (*x).max(most.saturating_sub(1 << 30)));
    from_powers(exponents, most, probabilities, row);
}

/// Probabilities of binary exponents, the largest of which is `most`.
fn from_powers(
    exponents: &mut [i32; SQUARES],
    most: i32,
    probabilities: &mut Rows<'_>,
    row: usize,
) {
    const { assert!(WITHIN_BITS == 9 && POWER_DROP == 6) };
    let whole = probabilities.groups == SQUARES / GROUP;
    let (Some(row), true) = (probabilities.row_start(row), whole) else {
        return debug_assert!(false, "a row has not the scores' number");
    };
    let exponents = exponents.as_mut_ptr();
    let dropped = most.cast_unsigned().wrapping_add(POWER_DROP << 16);
    // SAFETY: there are 64 exponents, of which none is more than 2^31 below the largest; the table
    // has a point for each of 128 segments and one for the end; the row has 16 groups.
    unsafe {
        let sum = softmax::powers(exponents, dropped, POWERS.as_ptr());
        softmax::normalize(exponents, quotient(1 << (RECIPROCAL - 32), sum), row);
    }
}
