//! Products of weights by activations that are halfwords.
use core::arch::x86_64::*;

use super::{lanes, load, store};
use crate::net::{infer::kernel::x86::Pair, kbz::PAIR_GROUP};

/// Groups of columns whose weights are extended together.
const CHUNK: usize = 64;
/// A group of a pair of rows, extended: two words of the first row, two of the second.
type Extended = [i16; PAIR_GROUP];

/// The products of pairs of rows by words of two columns:
/// `sums[r · tokens + t] = Σ rows[r][c] · half[t, c]`.
///
/// # Safety
/// The pairs have as many groups, there are two words for each group and token, and two rows of
/// sums a pair.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub unsafe fn half_products<const P: usize>(pairs: [&[Pair]; P], words: &[u32], sums: &mut [i32]) {
    let tokens = sums.len() / (2 * P);
    let mut start = 0;
    while start < tokens {
        // SAFETY: the caller's; as many tokens are left as a tile takes, the last one as many as
        // are left.
        start += unsafe {
            match tokens - start {
                64.. => half_tile::<P, 4>(pairs, words, start, sums),
                32.. => half_tile::<P, 2>(pairs, words, start, sums),
                _ => half_tile::<P, 1>(pairs, words, start, sums),
            }
        };
    }
}

/// The sums for `16 · T` tokens from `start` on, or for those that are left if T is one. Returns
/// the number of tokens.
///
/// # Safety
/// As [`half_products`] wants it, and unless T is one there are as many tokens.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
unsafe fn half_tile<const P: usize, const T: usize>(
    pairs: [&[Pair]; P],
    words: &[u32],
    start: usize,
    out: &mut [i32],
) -> usize {
    let tokens = out.len() / (2 * P);
    let mask = lanes(tokens - start);
    let mut sums = [[[_mm512_setzero_si512(); T]; 2]; P];
    let mut extended = [[[0; PAIR_GROUP]; CHUNK]; P];
    let groups = pairs[0].len();
    for first in (0..groups).step_by(CHUNK) {
        let count = CHUNK.min(groups - first);
        for (pair, extended) in pairs.iter().zip(&mut extended) {
            // SAFETY: every pair has as many groups.
            extend(unsafe { pair.get_unchecked(first..first + count) }, extended);
        }
        let words = words.as_ptr().wrapping_add(first * 2 * tokens + start).cast::<i32>();
        for word in 0..2 * count {
            let words = words.wrapping_add(word * tokens);
            let mut x = [_mm512_setzero_si512(); T];
            for (i, x) in x.iter_mut().enumerate() {
                // SAFETY: the caller's.
                *x = unsafe { load::<T>(words.wrapping_add(16 * i), mask) };
            }
            for (extended, sums) in extended.iter().zip(&mut sums) {
                let group: *const i32 = extended.as_ptr().wrapping_add(word / 2).cast();
                for (row, sums) in sums.iter_mut().enumerate() {
                    // SAFETY: a group has four words, two of each row, aligned as halfwords are.
                    let weights = unsafe { group.add(2 * row + word % 2).read_unaligned() };
                    let weights = _mm512_set1_epi32(weights);
                    for (sum, &x) in sums.iter_mut().zip(&x) {
                        *sum = _mm512_dpwssd_epi32(*sum, weights, x);
                    }
                }
            }
        }
    }
    // By numbers, so that the compiler keeps every sum in a register.
    for row in 0..2 * P {
        for (i, sum) in sums[row / 2][row % 2].into_iter().enumerate() {
            let out = out.as_mut_ptr().wrapping_add(row * tokens + start + 16 * i);
            // SAFETY: the row has sums for the lanes of the mask, or for `16 · T` tokens.
            unsafe { store::<T>(out, mask, sum) };
        }
    }
    (16 * T).min(tokens - start)
}

/// The weights, at most a chunk, as halfwords in their order.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
fn extend(weights: &[Pair], extended: &mut [Extended; CHUNK]) {
    let (fours, rest) = weights.as_chunks::<4>();
    let (out_fours, _) = extended.as_chunks_mut::<4>();
    for (weights, out) in fours.iter().zip(out_fours) {
        // SAFETY: four groups are 32 bytes, and 64 extended.
        unsafe {
            let bytes = _mm256_loadu_si256(weights.as_ptr().cast());
            _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_cvtepi8_epi16(bytes));
        }
    }
    for (weights, out) in rest.iter().zip(&mut extended[4 * fours.len()..]) {
        *out = weights.map(i16::from);
    }
}
