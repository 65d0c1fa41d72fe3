//! The squares' softmax.
use core::arch::x86_64::*;

use super::rescale::Vector;
use crate::{
    inputs::SQUARES,
    net::infer::{
        ATTENTION_FRACTION, EXPONENT_FRACTION,
        arithmetic::quotient,
        exp::{POWERS, WITHIN_BITS},
        kernel::Exponents,
        softmax::{POWER_DROP, RECIPROCAL},
    },
};

/// Vectors of a query.
const VECTORS: usize = SQUARES / 16;

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

/// Turns a query's scores into probabilities.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub fn attention(
    scores: &[i32; SQUARES],
    exponents: &Exponents<'_>,
    probabilities: &mut [i16; SQUARES],
) {
    let (score, bias) = (Vector::new(&exponents.score), Vector::new(&exponents.bias));
    let mut vectors = [_mm512_setzero_si512(); VECTORS];
    let (scores, biases) = (scores.as_chunks::<16>().0, exponents.biases.as_chunks::<16>().0);
    for ((vector, scores), biases) in vectors.iter_mut().zip(scores).zip(biases) {
        // SAFETY: there are 16 scores and 16 biases.
        let (scores, biases) = unsafe {
            let biases = _mm_loadu_si128(biases.as_ptr().cast());
            (_mm512_loadu_si512(scores.as_ptr().cast()), _mm512_cvtepi8_epi32(biases))
        };
        *vector = _mm512_add_epi32(score.apply(scores), bias.apply(biases));
    }
    softmax(vectors, probabilities);
}

/// Binary exponents as probabilities: [`attention`](crate::net::infer::softmax::attention).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
fn softmax(mut vectors: [__m512i; VECTORS], probabilities: &mut [i16; SQUARES]) {
    const SHIFT: u32 = RECIPROCAL - ATTENTION_FRACTION - 32;
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
