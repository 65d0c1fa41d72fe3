//! The loops with 512 bits, and with VNNI's sums of products.
use core::arch::x86_64::*;

use super::{Pair, avx2::rows_of, single_from};

use crate::{
    inputs::SQUARES,
    net::{
        infer::{
            ATTENTION_FRACTION, EXPONENT_FRACTION,
            arithmetic::quotient,
            exp::{POWERS, WITHIN_BITS},
            softmax::{POWER_DROP, RECIPROCAL},
        },
        kbz::PAIR_GROUP,
    },
};

/// [`add_products`](super::add_products), whose lengths it has checked.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub fn add_products<const R: usize>(rows: [&[i16]; R], words: &[u32], sums: &mut [i32]) {
    let tokens = sums.len() / R;
    let mut start = 0;
    while start < tokens {
        // SAFETY: as many tokens are left as a tile takes, the last one as many as are left.
        start += unsafe {
            match tokens - start {
                64.. => tile::<R, 4, 1>(rows, words, start, sums),
                32.. => tile::<R, 2, 2>(rows, words, start, sums),
                _ => tile::<R, 1, 4>(rows, words, start, sums),
            }
        };
    }
}

/// Adds to the sums of the rows for `16 · T` tokens from `start` on, or for those that are left if T
/// is one; in `U` parts, so that they need not wait for one another. Returns the number of tokens.
///
/// # Safety
/// The lengths are as [`add_products`](super::add_products) wants them, and unless T is one there
/// are as many tokens.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
unsafe fn tile<const R: usize, const T: usize, const U: usize>(
    rows: [&[i16]; R],
    words: &[u32],
    start: usize,
    out: &mut [i32],
) -> usize {
    let tokens = out.len() / R;
    let (length, mask) = (rows[0].len(), lanes(tokens - start));
    let mut sums = [[[_mm512_setzero_si512(); T]; R]; U];
    let words = |pair: usize| words.as_ptr().wrapping_add(pair * tokens + start).cast();
    let mut pair = 0;
    // SAFETY: there are `tokens` words for each pair of a row's numbers, and lanes for those that
    // are left from `start` on.
    unsafe {
        while pair + U <= length / 2 {
            for (u, sums) in sums.iter_mut().enumerate() {
                add_pair(rows, pair + u, words(pair + u), mask, sums);
            }
            pair += U;
        }
        while pair < length / 2 {
            add_pair(rows, pair, words(pair), mask, &mut sums[0]);
            pair += 1;
        }
        if length % 2 == 1 {
            let last = rows.map(|row| [row[length - 1], 0]);
            let last = last.each_ref().map(|pair| &pair[..]);
            add_pair(last, 0, words(pair), mask, &mut sums[0]);
        }
        for row in 0..R {
            for i in 0..T {
                let out = out.as_mut_ptr().wrapping_add(row * tokens + start + 16 * i);
                let mut sum = load::<T>(out, mask);
                for part in &sums {
                    sum = _mm512_add_epi32(sum, part[row][i]);
                }
                match T {
                    1 => _mm512_mask_storeu_epi32(out, mask, sum),
                    _ => _mm512_storeu_si512(out.cast(), sum),
                }
            }
        }
    }
    (16 * T).min(tokens - start)
}

/// Adds the products of a pair of each row's numbers by the words of some tokens.
///
/// # Safety
/// There are such numbers, and lanes of the mask, or `16 · T`, at `words`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
unsafe fn add_pair<const R: usize, const T: usize>(
    rows: [&[i16]; R],
    pair: usize,
    words: *const i32,
    mask: __mmask16,
    sums: &mut [[__m512i; T]; R],
) {
    let mut x = [_mm512_setzero_si512(); T];
    for (i, x) in x.iter_mut().enumerate() {
        // SAFETY: the caller's.
        *x = unsafe { load::<T>(words.wrapping_add(16 * i), mask) };
    }
    for (row, sums) in rows.iter().zip(sums) {
        // SAFETY: the row has both numbers.
        let numbers = unsafe { row.as_ptr().add(2 * pair).cast::<i32>().read_unaligned() };
        let numbers = _mm512_set1_epi32(numbers);
        for (sum, &x) in sums.iter_mut().zip(&x) {
            *sum = _mm512_dpwssd_epi32(*sum, numbers, x);
        }
    }
}

/// Loads the lanes of the mask, or all if T is more than one.
///
/// # Safety
/// They can be read.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
unsafe fn load<const T: usize>(at: *const i32, mask: __mmask16) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        match T {
            1 => _mm512_maskz_loadu_epi32(mask, at),
            _ => _mm512_loadu_si512(at.cast()),
        }
    }
}

/// The first lanes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
fn lanes(count: usize) -> __mmask16 {
    u16::MAX >> 16usize.saturating_sub(count)
}

/// The products of pairs of rows by words of four bytes, each 128 too large:
/// `sums[r · tokens + t] = Σ rows[r][c] · (byte[t, c] - 128)`.
///
/// # Safety
/// The pairs have as many groups, there is a word for each group and token, and two rows of sums a
/// pair.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub unsafe fn byte_products<const P: usize>(pairs: [&[Pair]; P], words: &[u32], sums: &mut [i32]) {
    let tokens = sums.len() / (2 * P);
    let offsets = pairs.map(|pair| weights_of(pair).map(|sum| -128 * sum));
    let mut start = 0;
    while start < tokens {
        // SAFETY: the caller's; as many tokens are left as a tile takes, the last one as many as
        // are left.
        start += unsafe {
            match tokens - start {
                64.. => byte_tile::<P, 4>(pairs, offsets, words, start, sums),
                32.. => byte_tile::<P, 2>(pairs, offsets, words, start, sums),
                _ => byte_tile::<P, 1>(pairs, offsets, words, start, sums),
            }
        };
    }
}

/// The sums for `16 · T` tokens from `start` on, or for those that are left if T is one, each on
/// top of its row's offset. Returns the number of tokens.
///
/// # Safety
/// As [`byte_products`] wants it, and unless T is one there are as many tokens.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
unsafe fn byte_tile<const P: usize, const T: usize>(
    pairs: [&[Pair]; P],
    offsets: [[i32; 2]; P],
    words: &[u32],
    start: usize,
    out: &mut [i32],
) -> usize {
    let tokens = out.len() / (2 * P);
    let mask = lanes(tokens - start);
    let mut sums = offsets.map(|rows| rows.map(|offset| [_mm512_set1_epi32(offset); T]));
    for group in 0..pairs[0].len() {
        let words = words.as_ptr().wrapping_add(group * tokens + start).cast::<i32>();
        let mut x = [_mm512_setzero_si512(); T];
        for (i, x) in x.iter_mut().enumerate() {
            // SAFETY: the caller's.
            *x = unsafe { load::<T>(words.wrapping_add(16 * i), mask) };
        }
        for (pair, sums) in pairs.iter().zip(&mut sums) {
            // SAFETY: every pair has as many groups.
            let rows = unsafe { pair.as_ptr().add(group).cast::<[i32; 2]>().read_unaligned() };
            for (row, sums) in rows.into_iter().zip(sums) {
                let weights = _mm512_set1_epi32(row);
                for (sum, &x) in sums.iter_mut().zip(&x) {
                    *sum = _mm512_dpbusd_epi32(*sum, x, weights);
                }
            }
        }
    }
    // By numbers, so that the compiler keeps every sum in a register.
    for row in 0..2 * P {
        let sums = sums[row / 2][row % 2];
        for (i, sum) in sums.into_iter().enumerate() {
            let out = out.as_mut_ptr().wrapping_add(row * tokens + start + 16 * i);
            // SAFETY: the row has sums for the lanes of the mask, or for `16 · T` tokens.
            unsafe {
                match T {
                    1 => _mm512_mask_storeu_epi32(out, mask, sum),
                    _ => _mm512_storeu_si512(out.cast(), sum),
                }
            }
        }
    }
    (16 * T).min(tokens - start)
}

/// The sum of each row's weights.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn weights_of(pair: &[Pair]) -> [i32; 2] {
    let (vectors, rest) = pair.as_chunks::<8>();
    let mut sum = _mm512_setzero_si512();
    for weights in vectors {
        // SAFETY: eight groups of a pair are 64 bytes.
        let weights = unsafe { _mm512_loadu_si512(weights.as_ptr().cast()) };
        sum = _mm512_dpbusd_epi32(sum, _mm512_set1_epi8(1), weights);
    }
    let even = _mm512_mask_reduce_add_epi32(0x5555, sum);
    let odd = _mm512_mask_reduce_add_epi32(0xaaaa, sum);
    rest.iter().fold([even, odd], |[even, odd], [a, b, c, d, e, f, g, h]| {
        let sum = |weights: [&i8; 4]| weights.iter().map(|&&w| i32::from(w)).sum::<i32>();
        [even + sum([a, b, c, d]), odd + sum([e, f, g, h])]
    })
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub fn single(weights: &[Pair], halves: &[[i16; PAIR_GROUP]]) -> [i32; 2] {
    let (weights, rest) = weights.as_chunks::<4>();
    let (halves, rest_halves) = halves.as_chunks::<4>();
    let mut sums = [_mm512_setzero_si512(); 2];
    for (i, (weights, halves)) in weights.iter().zip(halves).enumerate() {
        // SAFETY: four groups of a pair are 32 bytes of weights and 64 of activations.
        let (w, x) = unsafe {
            let w = _mm256_loadu_si256(weights.as_ptr().cast());
            (_mm512_cvtepi8_epi16(w), _mm512_loadu_si512(halves.as_ptr().cast()))
        };
        sums[i % 2] = _mm512_dpwssd_epi32(sums[i % 2], w, x);
    }
    let sum = _mm512_add_epi32(sums[0], sums[1]);
    let (low, high) = (_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64::<1>(sum));
    single_from(rest, rest_halves, rows_of(_mm256_add_epi32(low, high)))
}

/// # Safety
/// The table has at least two entries.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub unsafe fn gated(table: &[[u8; 2]], bits: [u32; 3], xs: &[i32; 16], ys: &mut [i32; 16]) {
    let [fraction, shift, left] = bits.map(|bits| _mm_cvtsi32_si128(bits.cast_signed()));
    // SAFETY: `xs` has 16 words.
    let x = unsafe { _mm512_loadu_si512(xs.as_ptr().cast()) };
    let t = _mm512_abs_epi32(x);
    let index = _mm512_srl_epi32(t, fraction);
    let last = _mm512_set1_epi32(table.len() as i32 - 2);
    let inside = _mm512_cmple_epu32_mask(index, last);
    // SAFETY: lanes of the mask read two entries, of which the second is at most the last.
    let both = unsafe {
        let zero = _mm512_setzero_si512();
        _mm512_mask_i32gather_epi32::<2>(zero, inside, index, table.as_ptr().cast())
    };
    let a = _mm512_srai_epi32::<16>(_mm512_slli_epi32::<16>(both));
    let b = _mm512_srai_epi32::<16>(both);
    let within = _mm512_sub_epi32(t, _mm512_sll_epi32(index, fraction));
    let slope = _mm512_mullo_epi32(_mm512_sub_epi32(b, a), within);
    let exact = _mm512_add_epi32(_mm512_sll_epi32(a, fraction), slope);
    let half = _mm512_set1_epi32(1 << (bits[1] - 1));
    let remainder = _mm512_sra_epi32(_mm512_add_epi32(exact, half), shift);
    // The slope past the table's end is zero times what it may be.
    let positive = _mm512_max_epi32(x, _mm512_setzero_si512());
    let y = _mm512_sll_epi32(_mm512_add_epi32(positive, remainder), left);
    // SAFETY: `ys` has 16 words.
    unsafe { _mm512_storeu_si512(ys.as_mut_ptr().cast(), y) };
}

/// Tables of 128 entries, of which each instruction looks up 32.
type Table = [__m512i; 8];

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn table(entries: &[u32; 128]) -> Table {
    let mut table = [_mm512_setzero_si512(); 8];
    for (table, entries) in table.iter_mut().zip(entries.as_chunks::<16>().0) {
        // SAFETY: there are 16 entries.
        *table = unsafe { _mm512_loadu_si512(entries.as_ptr().cast()) };
    }
    table
}

/// The entries that the lower seven bits of each lane say.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
fn look_up([a, b, c, d, e, f, g, h]: &Table, index: __m512i) -> __m512i {
    let upper = _mm512_test_epi32_mask(index, _mm512_set1_epi32(64));
    let odd = _mm512_test_epi32_mask(index, _mm512_set1_epi32(32));
    let [first, second, third, fourth] =
        [(a, b), (c, d), (e, f), (g, h)].map(|(low, high)| (*low, *high));
    let first = _mm512_permutex2var_epi32(first.0, index, first.1);
    let second = _mm512_permutex2var_epi32(second.0, index, second.1);
    let third = _mm512_permutex2var_epi32(third.0, index, third.1);
    let fourth = _mm512_permutex2var_epi32(fourth.0, index, fourth.1);
    let lower_half = _mm512_mask_blend_epi32(odd, first, second);
    let upper_half = _mm512_mask_blend_epi32(odd, third, fourth);
    _mm512_mask_blend_epi32(upper, lower_half, upper_half)
}

/// [`attention`](crate::net::infer::softmax::attention) of the squares.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub fn attention(scores: &[i32; SQUARES], probabilities: &mut [i16; SQUARES]) {
    const SHIFT: u32 = RECIPROCAL - ATTENTION_FRACTION - 32;
    const VECTORS: usize = SQUARES / 16;
    let mut vectors = [_mm512_setzero_si512(); VECTORS];
    for (vector, scores) in vectors.iter_mut().zip(scores.as_chunks::<16>().0) {
        // SAFETY: there are 16 scores.
        *vector = unsafe { _mm512_loadu_si512(scores.as_ptr().cast()) };
    }
    let most = vectors.into_iter().fold(vectors[0], |most, x| _mm512_max_epi32(most, x));
    let most = _mm512_set1_epi32(_mm512_reduce_max_epi32(most));
    let [entries @ .., _] = &POWERS;
    let [_, next @ ..] = &POWERS;
    let (entries, next) = (table(entries), table(next));
    let mut sum = _mm512_setzero_si512();
    for x in &mut vectors {
        // As `exp2_negative` has it.
        let exponent = _mm512_sub_epi32(most, *x);
        let whole = _mm512_srli_epi32::<EXPONENT_FRACTION>(exponent);
        let segment = _mm512_srli_epi32::<WITHIN_BITS>(exponent);
        let within = _mm512_and_si512(exponent, _mm512_set1_epi32((1 << WITHIN_BITS) - 1));
        let high = look_up(&entries, segment);
        let steps = _mm512_mullo_epi32(_mm512_sub_epi32(high, look_up(&next, segment)), within);
        let power = _mm512_sub_epi32(high, _mm512_srli_epi32::<WITHIN_BITS>(steps));
        // A shift by more than a lane's bits leaves nothing.
        *x = _mm512_srli_epi32::<POWER_DROP>(_mm512_srlv_epi32(power, whole));
        sum = _mm512_add_epi32(sum, *x);
    }
    let sum = _mm512_reduce_add_epi32(sum).cast_unsigned();
    let reciprocal = _mm512_set1_epi32(quotient(1 << (RECIPROCAL - 32), sum).cast_signed());
    for (power, out) in vectors.into_iter().zip(probabilities.as_chunks_mut::<16>().0) {
        let even = _mm512_srli_epi64::<32>(_mm512_mul_epu32(power, reciprocal));
        let odd = _mm512_mul_epu32(_mm512_srli_epi64::<32>(power), reciprocal);
        let upper = _mm512_mask_blend_epi32(0xaaaa, even, odd);
        let half = _mm512_set1_epi32(1 << (SHIFT - 1));
        let rounded = _mm512_srli_epi32::<SHIFT>(_mm512_add_epi32(upper, half));
        let within = _mm512_min_epu32(rounded, _mm512_set1_epi32(i16::MAX.into()));
        // SAFETY: there are 16 probabilities.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), _mm512_cvtepi32_epi16(within)) };
    }
}
