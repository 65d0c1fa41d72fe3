//! The loops with 512 bits, and with VNNI's sums of products.
use core::arch::x86_64::*;

use super::{Pair, WidePair, add_wide_pair_from, avx2::rows_of, pair_from, single_from, two, word};

use crate::net::kbz::PAIR_GROUP;

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub fn pair(weights: &[Pair], words: &[u32], [first, second]: [&mut [i32]; 2]) {
    let (tokens, bias) = (first.len(), row_bias(weights));
    let mut start = 0;
    while start + 16 <= tokens {
        let step = match tokens - start {
            64.. => tile::<4, 1>(weights, words, bias, start, first, second),
            32.. => tile::<2, 2>(weights, words, bias, start, first, second),
            _ => tile::<1, 4>(weights, words, bias, start, first, second),
        };
        start += step;
    }
    pair_from(start, weights, words, [first, second]);
}

/// What 128 more in every activation adds to the sums of both rows, negative.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn row_bias(weights: &[Pair]) -> [i32; 2] {
    let mut sums = _mm512_setzero_si512();
    let bytes: &[i8] = weights.as_flattened();
    for chunk in bytes.chunks(64) {
        let mask = u64::MAX >> (64 - chunk.len());
        // SAFETY: the mask has a bit for each byte of the chunk, which is not empty.
        let weights = unsafe { _mm512_maskz_loadu_epi8(mask, chunk.as_ptr()) };
        sums = _mm512_dpbusd_epi32(sums, _mm512_set1_epi8(i8::MIN), weights);
    }
    // The two rows alternate.
    let [a, b] = pair_of(_mm512_castsi512_si256(sums), _mm512_extracti64x4_epi64::<1>(sums));
    [a.wrapping_neg(), b.wrapping_neg()]
}

/// The sums of the even and of the odd lanes of both vectors.
#[target_feature(enable = "avx2")]
fn pair_of(a: __m256i, b: __m256i) -> [i32; 2] {
    let sum = _mm256_add_epi32(a, b);
    let sum = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
    let sum = _mm_add_epi32(sum, _mm_unpackhi_epi64(sum, sum));
    [_mm_cvtsi128_si32(sum), _mm_extract_epi32::<1>(sum)]
}

/// Both rows by `16 · T` tokens from `start` on, with `U` sums of each so that they need not wait
/// for one another. Returns the number of tokens.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn tile<const T: usize, const U: usize>(
    weights: &[Pair],
    words: &[u32],
    bias: [i32; 2],
    start: usize,
    first: &mut [i32],
    second: &mut [i32],
) -> usize {
    let tokens = first.len();
    let mut sums = [[[_mm512_setzero_si512(); T]; U]; 2];
    for (row, sums) in sums.iter_mut().enumerate() {
        sums[0] = [_mm512_set1_epi32(bias[row]); T];
    }
    let weights = &weights[..weights.len().min(words.len() / tokens)];
    assert!(start + 16 * T <= tokens);
    let mut words = words.as_ptr().wrapping_add(start);
    let (blocks, rest) = weights.as_chunks::<U>();
    for block in blocks {
        for (u, pair) in block.iter().enumerate() {
            // SAFETY: `words` has `tokens` of them for each pair, and 16 · T from `start` on.
            let x = unsafe { vectors::<T>(words) };
            add_pair(pair, x, &mut sums, u);
            words = words.wrapping_add(tokens);
        }
    }
    for pair in rest {
        // SAFETY: as above.
        let x = unsafe { vectors::<T>(words) };
        add_pair(pair, x, &mut sums, 0);
        words = words.wrapping_add(tokens);
    }
    for (sums, out) in sums.into_iter().zip([first, second]) {
        for (i, out) in out[start..start + 16 * T].as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let sum = sums[1..].iter().fold(sums[0][i], |sum, part| _mm512_add_epi32(sum, part[i]));
            // SAFETY: `out` has 16 words.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), sum) };
        }
    }
    16 * T
}

/// Loads `T` vectors.
///
/// # Safety
/// There are `16 · T` words at `words`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
unsafe fn vectors<const T: usize>(words: *const u32) -> [__m512i; T] {
    // SAFETY: the caller's.
    core::array::from_fn(|i| unsafe { _mm512_loadu_si512(words.add(16 * i).cast()) })
}

/// Adds a group's products to the sums number `u` of both rows.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
fn add_pair<const T: usize, const U: usize>(
    pair: &Pair,
    x: [__m512i; T],
    sums: &mut [[[__m512i; T]; U]; 2],
    u: usize,
) {
    let [a, b, c, d, e, f, g, h] = pair.map(i8::cast_unsigned);
    let first = _mm512_set1_epi32(i32::from_le_bytes([a, b, c, d]));
    let second = _mm512_set1_epi32(i32::from_le_bytes([e, f, g, h]));
    for i in 0..T {
        sums[0][u][i] = _mm512_dpbusd_epi32(sums[0][u][i], x[i], first);
        sums[1][u][i] = _mm512_dpbusd_epi32(sums[1][u][i], x[i], second);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub fn add_wide_pair(weights: &[WidePair], words: &[u32], [first, second]: [&mut [i32]; 2]) {
    let tokens = first.len();
    let mut start = 0;
    while start + 16 <= tokens {
        start += match tokens - start {
            64.. => wide_tile::<4>(weights, words, start, first, second),
            32.. => wide_tile::<2>(weights, words, start, first, second),
            _ => wide_tile::<1>(weights, words, start, first, second),
        };
    }
    add_wide_pair_from(start, weights, words, [first, second]);
}

/// Adds both rows by `16 · T` tokens from `start` on: the sums of a group's first two columns and
/// of its others apart, so that they need not wait for one another. Returns the number of tokens.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn wide_tile<const T: usize>(
    weights: &[WidePair],
    words: &[u32],
    start: usize,
    first: &mut [i32],
    second: &mut [i32],
) -> usize {
    let tokens = first.len();
    let weights = &weights[..weights.len().min(words.len() / (2 * tokens))];
    assert!(start + 16 * T <= tokens);
    let mut sums = [[[_mm512_setzero_si512(); T]; 2]; 2];
    let mut words = words.as_ptr().wrapping_add(start);
    for pair in weights {
        for half in 0..2 {
            // SAFETY: `words` has twice `tokens` of them for each pair, and 16 · T from `start` on.
            let x = unsafe { vectors::<T>(words) };
            for (row, sums) in sums.iter_mut().enumerate() {
                let at = 4 * row + 2 * half;
                let weight = _mm512_set1_epi32(word([pair[at], pair[at + 1]]));
                for i in 0..T {
                    sums[half][i] = _mm512_dpwssd_epi32(sums[half][i], weight, x[i]);
                }
            }
            words = words.wrapping_add(tokens);
        }
    }
    for (sums, out) in sums.into_iter().zip([first, second]) {
        for (i, out) in out[start..start + 16 * T].as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let out = out.as_mut_ptr().cast();
            let sum = _mm512_add_epi32(sums[0][i], sums[1][i]);
            // SAFETY: `out` has 16 words.
            unsafe { _mm512_storeu_si512(out, _mm512_add_epi32(sum, _mm512_loadu_si512(out))) };
        }
    }
    16 * T
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

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub fn dots(vector: &[i16], pairs: &[[i16; 2]], sums: &mut [i32]) {
    let mut start = 0;
    while start + 16 <= sums.len() {
        start += match sums.len() - start {
            64.. => dot_rows::<4, 1>(vector, pairs, start, sums),
            32.. => dot_rows::<2, 2>(vector, pairs, start, sums),
            _ => dot_rows::<1, 4>(vector, pairs, start, sums),
        };
    }
    if start < sums.len() {
        dot_last(vector, pairs, start, sums);
    }
}

/// The sums of the rows from `start` on, fewer than sixteen.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn dot_last(vector: &[i16], pairs: &[[i16; 2]], start: usize, out: &mut [i32]) {
    /// Sums that need not wait for one another.
    const PARTS: usize = 4;
    let count = out.len();
    let out = &mut out[start..];
    assert!(out.len() < 16);
    let mask = (1 << out.len()) - 1;
    let mut sums = [_mm512_setzero_si512(); PARTS];
    let rows = vector.chunks(2).map(two).zip(pairs.chunks_exact(count));
    for (i, (numbers, pairs)) in rows.enumerate() {
        // SAFETY: the mask has a bit for each of the pairs from `start` on.
        let x = unsafe { _mm512_maskz_loadu_epi32(mask, pairs[start..].as_ptr().cast()) };
        let numbers = _mm512_set1_epi32(word(numbers));
        sums[i % PARTS] = _mm512_dpwssd_epi32(sums[i % PARTS], numbers, x);
    }
    let [a, b, c, d] = sums;
    let sum = _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d));
    // SAFETY: the mask has a bit for each word of `out`.
    unsafe { _mm512_mask_storeu_epi32(out.as_mut_ptr(), mask, sum) };
}

/// The sums of `16 · T` rows from `start` on, with `U` of each so that they need not wait for one
/// another. Returns the number of rows.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn dot_rows<const T: usize, const U: usize>(
    vector: &[i16],
    pairs: &[[i16; 2]],
    start: usize,
    out: &mut [i32],
) -> usize {
    let count = out.len();
    let mut sums = [[_mm512_setzero_si512(); T]; U];
    assert!(start + 16 * T <= count && pairs.len() >= vector.len().div_ceil(2) * count);
    let mut words = pairs.as_ptr().cast::<u32>().wrapping_add(start);
    let (numbers, odd) = vector.as_chunks::<2>();
    let (blocks, rest) = numbers.as_chunks::<U>();
    for block in blocks {
        for (u, &numbers) in block.iter().enumerate() {
            // SAFETY: `words` has `count` of them for each pair, and 16 · T from `start` on.
            let x = unsafe { vectors::<T>(words) };
            let numbers = _mm512_set1_epi32(word(numbers));
            for i in 0..T {
                sums[u][i] = _mm512_dpwssd_epi32(sums[u][i], numbers, x[i]);
            }
            words = words.wrapping_add(count);
        }
    }
    for numbers in rest.iter().copied().chain(odd.first().map(|&number| [number, 0])) {
        // SAFETY: as above.
        let x = unsafe { vectors::<T>(words) };
        let numbers = _mm512_set1_epi32(word(numbers));
        for i in 0..T {
            sums[0][i] = _mm512_dpwssd_epi32(sums[0][i], numbers, x[i]);
        }
        words = words.wrapping_add(count);
    }
    for (i, out) in out[start..start + 16 * T].as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let sum = sums[1..].iter().fold(sums[0][i], |sum, part| _mm512_add_epi32(sum, part[i]));
        // SAFETY: `out` has 16 words.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), sum) };
    }
    16 * T
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
