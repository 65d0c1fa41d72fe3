//! A query's attention with 256 bits.
use core::arch::x86_64::*;

use crate::{
    inputs::SQUARES,
    net::infer::{
        ATTENTION_FRACTION, EXPONENT_FRACTION,
        arithmetic::quotient,
        exp::{POWERS, WITHIN_BITS},
        softmax::{POWER_DROP, RECIPROCAL},
    },
};

/// Vectors of the scores.
const VECTORS: usize = SQUARES / 8;

/// [`attention`](crate::net::infer::softmax::attention) of a query's scores, which stay.
#[target_feature(enable = "avx2")]
pub fn attention(scores: &[i32; SQUARES], probabilities: &mut [i16; SQUARES]) {
    let mut x = [_mm256_setzero_si256(); VECTORS];
    for (x, scores) in x.iter_mut().zip(scores.as_chunks::<8>().0) {
        // SAFETY: there are eight scores.
        *x = unsafe { _mm256_loadu_si256(scores.as_ptr().cast()) };
    }
    let most = largest(x.into_iter().fold(x[0], |most, x| _mm256_max_epi32(most, x)));
    let mut sums = _mm256_setzero_si256();
    for x in &mut x {
        // The distance of any two scores is a word without a sign.
        *x = power(_mm256_sub_epi32(most, *x));
        sums = _mm256_add_epi32(sums, *x);
    }
    let reciprocal = quotient(1 << (RECIPROCAL - 32), sum(sums)).cast_signed();
    let reciprocal = _mm256_set1_epi32(reciprocal);
    for (out, x) in probabilities.as_chunks_mut::<16>().0.iter_mut().zip(x.as_chunks::<2>().0) {
        let [a, b] = x.map(|power| probability(power, reciprocal));
        let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi32(a, b));
        // SAFETY: there are sixteen halfwords.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), packed) };
    }
}

/// The largest lane, in every lane.
#[target_feature(enable = "avx2")]
#[inline]
fn largest(x: __m256i) -> __m256i {
    let x = _mm256_max_epi32(x, _mm256_permute2x128_si256::<1>(x, x));
    let x = _mm256_max_epi32(x, _mm256_shuffle_epi32::<0b01_00_11_10>(x));
    _mm256_max_epi32(x, _mm256_shuffle_epi32::<0b10_11_00_01>(x))
}

/// The sum of all lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn sum(x: __m256i) -> u32 {
    let x = _mm256_add_epi32(x, _mm256_permute2x128_si256::<1>(x, x));
    let x = _mm256_hadd_epi32(x, x);
    _mm256_cvtsi256_si32(_mm256_hadd_epi32(x, x)).cast_unsigned()
}

/// `exp2_negative` of exponents, less the bits that are dropped.
#[target_feature(enable = "avx2")]
#[inline]
fn power(exponents: __m256i) -> __m256i {
    const SEGMENTS: i32 = POWERS.len() as i32 - 1;
    let segments = _mm256_srli_epi32::<{ WITHIN_BITS as i32 }>(exponents);
    let segments = _mm256_and_si256(segments, _mm256_set1_epi32(SEGMENTS - 1));
    // The lanes 0, 1, 4, 5, and the others: so their entries come together in order.
    let apart = _mm256_permute4x64_epi64::<0b11_01_10_00>(segments);
    let halves = [_mm256_castsi256_si128(apart), _mm256_extracti128_si256::<1>(apart)];
    // SAFETY: a segment is an index of the table, and the next is one, too.
    let entries =
        halves.map(|at| unsafe { _mm256_i32gather_epi64::<4>(POWERS.as_ptr().cast(), at) });
    let [a, b] = entries.map(|entries| _mm256_castsi256_ps(entries));
    let high = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(a, b));
    let next = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(a, b));
    let within = _mm256_and_si256(exponents, _mm256_set1_epi32((1 << WITHIN_BITS) - 1));
    let steps = _mm256_mullo_epi32(_mm256_sub_epi32(high, next), within);
    let power = _mm256_sub_epi32(high, _mm256_srli_epi32::<{ WITHIN_BITS as i32 }>(steps));
    // A shift by more than a lane's bits leaves nothing.
    let whole = _mm256_srli_epi32::<{ EXPONENT_FRACTION as i32 }>(exponents);
    _mm256_srli_epi32::<{ POWER_DROP as i32 }>(_mm256_srlv_epi32(power, whole))
}

/// A power as a probability.
#[target_feature(enable = "avx2")]
#[inline]
fn probability(power: __m256i, reciprocal: __m256i) -> __m256i {
    const SHIFT: i32 = (RECIPROCAL - ATTENTION_FRACTION - 32) as i32;
    let even = _mm256_srli_epi64::<32>(_mm256_mul_epu32(power, reciprocal));
    let odd = _mm256_mul_epu32(_mm256_srli_epi64::<32>(power), reciprocal);
    let upper = _mm256_blend_epi32::<0b1010_1010>(even, odd);
    let rounded = _mm256_add_epi32(upper, _mm256_set1_epi32(1 << (SHIFT - 1)));
    _mm256_min_epi32(_mm256_srli_epi32::<SHIFT>(rounded), _mm256_set1_epi32(i16::MAX.into()))
}
