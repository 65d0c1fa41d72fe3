//! Products of rows of halfwords.
use core::arch::x86_64::*;

use super::{lanes, load, store};

/// [`add_products`](super::super::add_products), whose lengths it has checked.
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
/// The lengths are as [`add_products`](super::super::add_products) wants them, and unless T is one there
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
                store::<T>(out, mask, sum);
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
