//! Products of weights by activations that are bytes.
use core::arch::x86_64::*;

use super::{lanes, load, store};
use crate::net::infer::kernel::x86::Pair;

/// The products of pairs of rows by words of four bytes, each 128 too large:
/// `sums[r · tokens + t] = Σ rows[r][c] · (byte[t, c] - 128)`.
///
/// # Safety
/// The pairs have as many groups, there is a word for each group and token, and two rows of sums a
/// pair.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub unsafe fn byte_products<const P: usize>(pairs: [&[Pair]; P], words: &[u32], sums: &mut [i32]) {
    let tokens = sums.len() / (2 * P);
    let mut offsets = [[0; 2]; P];
    for (offsets, pair) in offsets.iter_mut().zip(pairs) {
        *offsets = offsets_of(pair);
    }
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
    // Not by `map`, which the compiler may leave a function, and copy what it gives.
    let mut sums = [[[_mm512_setzero_si512(); T]; 2]; P];
    for (sums, offset) in sums.as_flattened_mut().iter_mut().zip(offsets.as_flattened()) {
        *sums = [_mm512_set1_epi32(*offset); T];
    }
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
            unsafe { store::<T>(out, mask, sum) };
        }
    }
    (16 * T).min(tokens - start)
}

/// -128 times the sum of each row's weights.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn offsets_of(pair: &[Pair]) -> [i32; 2] {
    let (vectors, rest) = pair.as_chunks::<8>();
    let mut sum = _mm512_setzero_si512();
    for weights in vectors {
        // SAFETY: eight groups of a pair are 64 bytes.
        let weights = unsafe { _mm512_loadu_si512(weights.as_ptr().cast()) };
        sum = _mm512_dpbusd_epi32(sum, _mm512_set1_epi8(1), weights);
    }
    let even = _mm512_mask_reduce_add_epi32(0x5555, sum);
    let odd = _mm512_mask_reduce_add_epi32(0xaaaa, sum);
    let [even, odd] = rest.iter().fold([even, odd], |[even, odd], [a, b, c, d, e, f, g, h]| {
        let sum = |weights: [&i8; 4]| weights.iter().map(|&&w| i32::from(w)).sum::<i32>();
        [even + sum([a, b, c, d]), odd + sum([e, f, g, h])]
    });
    [-128 * even, -128 * odd]
}
