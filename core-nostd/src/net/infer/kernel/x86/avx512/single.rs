//! Products of weights by a single token.
use core::arch::x86_64::*;

use crate::net::{
    infer::kernel::x86::{Pair, avx2::rows_of, single_from},
    kbz::PAIR_GROUP,
};

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
