//! The loops with 256 bits.
mod softmax;

use core::arch::x86_64::*;

pub use softmax::attention;

use super::{Pair, single_from};
use crate::net::kbz::{GROUP, PAIR_GROUP};

/// [`add_products`](super::add_products), whose lengths it has checked.
#[target_feature(enable = "avx2")]
pub fn add_products<const R: usize>(rows: [&[i16]; R], words: &[u32], sums: &mut [i32]) {
    let tokens = sums.len() / R;
    let mut start = 0;
    while start < tokens {
        // SAFETY: as many tokens are left as a tile takes, the last one as many as are left.
        start += unsafe {
            match tokens - start {
                32.. if R == 2 => tile::<R, 4, 1>(rows, words, start, sums),
                16.. => tile::<R, 2, 1>(rows, words, start, sums),
                _ => tile::<R, 1, 2>(rows, words, start, sums),
            }
        };
    }
}

/// Adds to the sums of the rows for `8 · T` tokens from `start` on, or for those that are left if T
/// is one; in `U` parts, so that they need not wait for one another. Returns the number of tokens.
///
/// # Safety
/// The lengths are as [`add_products`](super::add_products) wants them, and unless T is one there
/// are as many tokens.
#[target_feature(enable = "avx2")]
unsafe fn tile<const R: usize, const T: usize, const U: usize>(
    rows: [&[i16]; R],
    words: &[u32],
    start: usize,
    out: &mut [i32],
) -> usize {
    let tokens = out.len() / R;
    let (length, mask) = (rows[0].len(), lanes(tokens - start));
    let mut sums = [[[_mm256_setzero_si256(); T]; R]; U];
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
                let out = out.as_mut_ptr().wrapping_add(row * tokens + start + 8 * i);
                let mut sum = load::<T>(out, mask);
                for part in &sums {
                    sum = _mm256_add_epi32(sum, part[row][i]);
                }
                match T {
                    1 => _mm256_maskstore_epi32(out, mask, sum),
                    _ => _mm256_storeu_si256(out.cast(), sum),
                }
            }
        }
    }
    (8 * T).min(tokens - start)
}

/// Adds the products of a pair of each row's numbers by the words of some tokens.
///
/// # Safety
/// There are such numbers, and lanes of the mask, or `8 · T`, at `words`.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn add_pair<const R: usize, const T: usize>(
    rows: [&[i16]; R],
    pair: usize,
    words: *const i32,
    mask: __m256i,
    sums: &mut [[__m256i; T]; R],
) {
    let mut x = [_mm256_setzero_si256(); T];
    for (i, x) in x.iter_mut().enumerate() {
        // SAFETY: the caller's.
        *x = unsafe { load::<T>(words.wrapping_add(8 * i), mask) };
    }
    for (row, sums) in rows.iter().zip(sums) {
        // SAFETY: the row has both numbers.
        let numbers = unsafe { row.as_ptr().add(2 * pair).cast::<i32>().read_unaligned() };
        let numbers = _mm256_set1_epi32(numbers);
        for (sum, &x) in sums.iter_mut().zip(&x) {
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(numbers, x));
        }
    }
}

/// Loads the lanes of the mask, or all if T is more than one.
///
/// # Safety
/// They can be read.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn load<const T: usize>(at: *const i32, mask: __m256i) -> __m256i {
    // SAFETY: the caller's.
    unsafe {
        match T {
            1 => _mm256_maskload_epi32(at, mask),
            _ => _mm256_loadu_si256(at.cast()),
        }
    }
}

/// The first lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn lanes(count: usize) -> __m256i {
    let numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    _mm256_cmpgt_epi32(_mm256_set1_epi32(count.min(8) as i32), numbers)
}

#[target_feature(enable = "avx2")]
pub fn single(weights: &[Pair], halves: &[[i16; PAIR_GROUP]]) -> [i32; 2] {
    let (weights, rest) = weights.as_chunks::<2>();
    let (halves, rest_halves) = halves.as_chunks::<2>();
    let mut sum = _mm256_setzero_si256();
    for (weights, halves) in weights.iter().zip(halves) {
        // SAFETY: two groups of a pair are 16 bytes of weights and 32 of activations.
        let (w, x) = unsafe {
            let w = _mm_loadu_si128(weights.as_ptr().cast());
            (_mm256_cvtepi8_epi16(w), _mm256_loadu_si256(halves.as_ptr().cast()))
        };
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(w, x));
    }
    single_from(rest, rest_halves, rows_of(sum))
}

/// The sums of two rows whose lanes alternate two by two.
#[target_feature(enable = "avx2")]
pub fn rows_of(sum: __m256i) -> [i32; 2] {
    let sum = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
    let sum = _mm_hadd_epi32(sum, sum);
    [_mm_cvtsi128_si32(sum), _mm_extract_epi32::<1>(sum)]
}

/// # Safety
/// The table has at least two entries.
#[target_feature(enable = "avx2")]
pub unsafe fn gated(table: &[[u8; 2]], bits: [u32; 3], xs: &[i32; 8], ys: &mut [i32; 8]) {
    let [fraction, shift, left] = bits.map(|bits| _mm_cvtsi32_si128(bits.cast_signed()));
    // SAFETY: `xs` has 8 words.
    let x = unsafe { _mm256_loadu_si256(xs.as_ptr().cast()) };
    let t = _mm256_abs_epi32(x);
    let index = _mm256_srl_epi32(t, fraction);
    // |i32::MIN| is no index: without a sign it is past the end, with one before the start.
    let past = _mm256_cmpgt_epi32(index, _mm256_set1_epi32(table.len() as i32 - 2));
    let inside = _mm256_andnot_si256(past, _mm256_set1_epi32(-1));
    // SAFETY: lanes of the mask read two entries, of which the second is at most the last; an
    // index has lost its sign to the shift.
    let both = unsafe {
        let zero = _mm256_setzero_si256();
        _mm256_mask_i32gather_epi32::<2>(zero, table.as_ptr().cast(), index, inside)
    };
    let a = _mm256_srai_epi32::<16>(_mm256_slli_epi32::<16>(both));
    let b = _mm256_srai_epi32::<16>(both);
    let within = _mm256_sub_epi32(t, _mm256_sll_epi32(index, fraction));
    let slope = _mm256_mullo_epi32(_mm256_sub_epi32(b, a), within);
    let exact = _mm256_add_epi32(_mm256_sll_epi32(a, fraction), slope);
    let half = _mm256_set1_epi32(1 << (bits[1] - 1));
    let remainder = _mm256_sra_epi32(_mm256_add_epi32(exact, half), shift);
    let positive = _mm256_max_epi32(x, _mm256_setzero_si256());
    let y = _mm256_sll_epi32(_mm256_add_epi32(positive, remainder), left);
    // SAFETY: `ys` has 8 words.
    unsafe { _mm256_storeu_si256(ys.as_mut_ptr().cast(), y) };
}

/// The weights of four groups of a row, in the order in which they lie.
type Four = [i16; 4 * GROUP];

/// [`extend`](super::extend) of four groups at a time; returns how many.
#[target_feature(enable = "avx2")]
pub fn extend(weights: &[Pair], first: &mut [Four], second: &mut [Four]) -> usize {
    let fours = weights.as_chunks::<4>().0;
    let apart = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    for ((groups, first), second) in fours.iter().zip(first).zip(second) {
        // SAFETY: four groups of a pair are 32 bytes, and of a row sixteen halfwords.
        unsafe {
            let bytes = _mm256_loadu_si256(groups.as_ptr().cast());
            let rows = _mm256_permutevar8x32_epi32(bytes, apart);
            let [a, b] = [_mm256_castsi256_si128(rows), _mm256_extracti128_si256::<1>(rows)];
            _mm256_storeu_si256(first.as_mut_ptr().cast(), _mm256_cvtepi8_epi16(a));
            _mm256_storeu_si256(second.as_mut_ptr().cast(), _mm256_cvtepi8_epi16(b));
        }
    }
    4 * fours.len()
}
