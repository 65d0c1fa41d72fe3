//! The loops with 256 bits.
use core::arch::x86_64::*;

use super::{Pair, WidePair, add_wide_pair_from, dots_from, pair_from, single_from, two, word};
use crate::net::kbz::PAIR_GROUP;

#[target_feature(enable = "avx2")]
pub fn pair(weights: &[Pair], words: &[u32], [first, second]: [&mut [i32]; 2]) {
    let tokens = first.len();
    let mut start = 0;
    while start + 8 <= tokens {
        start += match tokens - start {
            32.. => tile::<4>(weights, words, start, first, second),
            _ => tile::<1>(weights, words, start, first, second),
        };
    }
    pair_from(start, weights, words, [first, second]);
}

/// Both rows by `8 · T` tokens from `start` on. Returns the number of tokens.
///
/// An instruction multiplies unsigned bytes by signed ones and adds two products in 16 bits. The
/// unsigned factor is the weight's magnitude, at most 128, and the other the activation, at most
/// 127, with the weight's sign: the sum is exact.
#[target_feature(enable = "avx2")]
fn tile<const T: usize>(
    weights: &[Pair],
    words: &[u32],
    start: usize,
    first: &mut [i32],
    second: &mut [i32],
) -> usize {
    let tokens = first.len();
    let flip = _mm256_set1_epi8(i8::MIN);
    let mut sums = [[_mm256_setzero_si256(); T]; 2];
    for (pair, words) in weights.iter().zip(words.chunks_exact(tokens)) {
        let Some(words) = words.get(start..start + 8 * T) else { continue };
        let [a, b, c, d, e, f, g, h] = *pair;
        let rows = [[a, b, c, d], [e, f, g, h]]
            .map(|row| _mm256_set1_epi32(i32::from_le_bytes(row.map(i8::cast_unsigned))));
        let magnitudes = rows.map(|row| _mm256_abs_epi8(row));
        let [first, second] = &mut sums;
        for ((words, first), second) in words.as_chunks::<8>().0.iter().zip(first).zip(second) {
            // SAFETY: there are 8 words.
            let x = unsafe { _mm256_loadu_si256(words.as_ptr().cast()) };
            let x = _mm256_xor_si256(x, flip);
            *first = add_products(*first, x, rows[0], magnitudes[0]);
            *second = add_products(*second, x, rows[1], magnitudes[1]);
        }
    }
    for (sums, out) in sums.into_iter().zip([first, second]) {
        let out = out[start..start + 8 * T].as_chunks_mut::<8>().0;
        for (sum, out) in sums.into_iter().zip(out) {
            // SAFETY: `out` has 8 words.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), sum) };
        }
    }
    8 * T
}

/// Adds to each lane of `sum` the products of its four bytes.
#[target_feature(enable = "avx2")]
#[inline]
fn add_products(sum: __m256i, x: __m256i, weights: __m256i, magnitudes: __m256i) -> __m256i {
    let products = _mm256_maddubs_epi16(magnitudes, _mm256_sign_epi8(x, weights));
    _mm256_add_epi32(sum, _mm256_madd_epi16(products, _mm256_set1_epi16(1)))
}

#[target_feature(enable = "avx2")]
pub fn add_wide_pair(weights: &[WidePair], words: &[u32], [first, second]: [&mut [i32]; 2]) {
    let tokens = first.len();
    let mut start = 0;
    while start + 8 <= tokens {
        start += match tokens - start {
            32.. => wide_tile::<4>(weights, words, start, first, second),
            _ => wide_tile::<1>(weights, words, start, first, second),
        };
    }
    add_wide_pair_from(start, weights, words, [first, second]);
}

/// Adds both rows by `8 · T` tokens from `start` on. Returns the number of tokens.
#[target_feature(enable = "avx2")]
fn wide_tile<const T: usize>(
    weights: &[WidePair],
    words: &[u32],
    start: usize,
    first: &mut [i32],
    second: &mut [i32],
) -> usize {
    let tokens = first.len();
    let mut sums = [[_mm256_setzero_si256(); T]; 2];
    for (pair, words) in weights.iter().zip(words.chunks_exact(2 * tokens)) {
        for (half, words) in words.chunks_exact(tokens).enumerate() {
            let Some(words) = words.get(start..start + 8 * T) else { continue };
            let words = words.as_chunks::<8>().0;
            for (row, sums) in sums.iter_mut().enumerate() {
                let at = 4 * row + 2 * half;
                let weight = _mm256_set1_epi32(word([pair[at], pair[at + 1]]));
                for (sum, words) in sums.iter_mut().zip(words) {
                    // SAFETY: there are 8 words.
                    let x = unsafe { _mm256_loadu_si256(words.as_ptr().cast()) };
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(weight, x));
                }
            }
        }
    }
    for (sums, out) in sums.into_iter().zip([first, second]) {
        let out = out[start..start + 8 * T].as_chunks_mut::<8>().0;
        for (sum, out) in sums.into_iter().zip(out) {
            let out = out.as_mut_ptr().cast();
            // SAFETY: `out` has 8 words.
            unsafe { _mm256_storeu_si256(out, _mm256_add_epi32(sum, _mm256_loadu_si256(out))) };
        }
    }
    8 * T
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

#[target_feature(enable = "avx2")]
pub fn dots(vector: &[i16], pairs: &[[i16; 2]], sums: &mut [i32]) {
    let mut start = 0;
    while start + 8 <= sums.len() {
        start += match sums.len() - start {
            64.. => dot_rows::<8>(vector, pairs, start, sums),
            16.. => dot_rows::<2>(vector, pairs, start, sums),
            _ => dot_rows::<1>(vector, pairs, start, sums),
        };
    }
    dots_from(start, vector, pairs, sums);
}

/// The sums of `8 · T` rows from `start` on. Returns their number.
#[target_feature(enable = "avx2")]
fn dot_rows<const T: usize>(
    vector: &[i16],
    pairs: &[[i16; 2]],
    start: usize,
    out: &mut [i32],
) -> usize {
    let count = out.len();
    let mut sums = [_mm256_setzero_si256(); T];
    for (numbers, pairs) in vector.chunks(2).zip(pairs.chunks_exact(count)) {
        let Some(pairs) = pairs.get(start..start + 8 * T) else { continue };
        let number = _mm256_set1_epi32(word(two(numbers)));
        for (i, sum) in sums.iter_mut().enumerate() {
            // SAFETY: `pairs` has 8 · T words.
            let x = unsafe { _mm256_loadu_si256(pairs.as_ptr().add(8 * i).cast()) };
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(number, x));
        }
    }
    let out = out[start..start + 8 * T].as_chunks_mut::<8>().0;
    for (sum, out) in sums.into_iter().zip(out) {
        // SAFETY: `out` has 8 words.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), sum) };
    }
    8 * T
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
