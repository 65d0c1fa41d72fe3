//! Attention of all queries, side by side in the lanes: no number is added across lanes.
use core::arch::x86_64::*;

use super::{rescale::Vector, transpose::transposed};
use crate::{
    inputs::SQUARES,
    net::infer::{
        ATTENTION_FRACTION, EXPONENT_FRACTION,
        exp::{self, SEGMENTS, WITHIN_BITS},
        kernel::{AllBiases, AllExponents, AllNumbers, AllProbabilities},
        softmax::{POWER_DROP, RECIPROCAL},
    },
};

/// Vectors of the queries.
const VECTORS: usize = SQUARES / 16;
/// A vector for each sixteen queries.
type Lanes = [__m512i; VECTORS];

/// The probabilities of all keys for all queries, by way of `numbers`, whose contents do not matter.
///
/// Queries and keys are words of two columns: `queries[p · 64 + q]`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub fn probabilities(
    queries: &[u32],
    keys: &[u32],
    exponents: &AllExponents<'_>,
    numbers: &mut AllNumbers,
    words: &mut AllProbabilities,
) {
    let most = scores(queries, keys, exponents, numbers);
    let reciprocals = powers(numbers, most).map(|sum| reciprocals(sum));
    for (words, keys) in words.iter_mut().zip(numbers.as_chunks::<2>().0) {
        for (i, words) in words.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let [a, b] = keys.each_ref().map(|key| probability(lanes_of(key, i), reciprocals[i]));
            let both = _mm512_or_si512(a, _mm512_slli_epi32::<16>(b));
            // SAFETY: there are sixteen words.
            unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), both) };
        }
    }
}

/// Sixteen numbers of a key.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
fn lanes_of(key: &[i32; SQUARES], vector: usize) -> __m512i {
    // SAFETY: a key has four times sixteen numbers.
    unsafe { _mm512_loadu_si512(key.as_chunks::<16>().0[vector % VECTORS].as_ptr().cast()) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
fn set_lanes(key: &mut [i32; SQUARES], vector: usize, x: __m512i) {
    let lanes = &mut key.as_chunks_mut::<16>().0[vector % VECTORS];
    // SAFETY: a key has four times sixteen numbers.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), x) };
}

/// Every key's binary exponents; returns their maxima.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn scores(
    queries: &[u32],
    keys: &[u32],
    exponents: &AllExponents<'_>,
    numbers: &mut AllNumbers,
) -> Lanes {
    let score = Vector::new(&exponents.score);
    let biases = Biases::new(exponents);
    let mut most = [_mm512_set1_epi32(i32::MIN); VECTORS];
    for (block, numbers) in numbers.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let mut sums = [[_mm512_setzero_si512(); VECTORS]; 4];
        for (queries, keys) in queries.chunks_exact(SQUARES).zip(keys.chunks_exact(SQUARES)) {
            let mut x = [_mm512_setzero_si512(); VECTORS];
            for (x, queries) in x.iter_mut().zip(queries.as_chunks::<16>().0) {
                // SAFETY: there are sixteen words.
                *x = unsafe { _mm512_loadu_si512(queries.as_ptr().cast()) };
            }
            for (key, sums) in keys[4 * block..].iter().zip(&mut sums) {
                let key = _mm512_set1_epi32(key.cast_signed());
                for (sum, &x) in sums.iter_mut().zip(&x) {
                    *sum = _mm512_dpwssd_epi32(*sum, key, x);
                }
            }
        }
        for i in 0..VECTORS {
            for (byte, key) in numbers.iter_mut().enumerate() {
                let y = score.apply(sums[byte][i]);
                let y = match &biases {
                    Some(biases) => _mm512_add_epi32(y, biases.get(block, byte, i)),
                    None => y,
                };
                most[i] = _mm512_max_epi32(most[i], y);
                set_lanes(key, i, y);
            }
        }
    }
    most
}

/// Biases of the queries' scores.
struct Biases {
    /// A word for each query and four keys.
    words: [[__m512i; 16]; VECTORS],
    scale: Vector,
    multipliers: Lanes,
}

impl Biases {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn new(exponents: &AllExponents<'_>) -> Option<Biases> {
        let AllBiases { bytes, rescaling, multipliers } = exponents.biases?;
        let mut bias = Biases {
            words: [[_mm512_setzero_si512(); 16]; VECTORS],
            scale: Vector::new(&rescaling),
            multipliers: [_mm512_setzero_si512(); VECTORS],
        };
        let all =
            multipliers.as_chunks::<16>().0.iter().zip(bytes.as_chunks::<{ 16 * SQUARES }>().0);
        for (i, (multipliers, bytes)) in all.enumerate() {
            // SAFETY: there are sixteen words.
            bias.multipliers[i] = unsafe { _mm512_loadu_si512(multipliers.as_ptr().cast()) };
            let mut rows = [_mm512_setzero_si512(); 16];
            for (row, bytes) in rows.iter_mut().zip(bytes.as_chunks::<SQUARES>().0) {
                // SAFETY: there are 64 bytes.
                *row = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
            }
            bias.words[i] = transposed(rows);
        }
        Some(bias)
    }

    /// Sixteen queries' biases of key `4 · word + byte`.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    #[inline]
    fn get(&self, word: usize, byte: usize, vector: usize) -> __m512i {
        let above = _mm_cvtsi32_si128(24 - 8 * byte as i32);
        let highest = _mm512_sll_epi32(self.words[vector][word], above);
        self.scale.by(_mm512_srai_epi32::<24>(highest), self.multipliers[vector])
    }
}

/// Every key's powers in place of its exponents, as `exp2_negative` has them; returns their sums.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn powers(numbers: &mut AllNumbers, most: Lanes) -> Lanes {
    let mut sums = [_mm512_setzero_si512(); VECTORS];
    let table = Table::new();
    for [first, second] in numbers.as_chunks_mut::<2>().0 {
        for i in 0..VECTORS {
            let exponents =
                [lanes_of(first, i), lanes_of(second, i)].map(|x| _mm512_sub_epi32(most[i], x));
            let [a, b] = table.powers(exponents);
            sums[i] = _mm512_add_epi32(sums[i], _mm512_add_epi32(a, b));
            set_lanes(first, i, a);
            set_lanes(second, i, b);
        }
    }
    sums
}

/// The powers where each interval begins and where it ends, lower halfwords and upper ones: an
/// instruction looks up 32 halfwords among 64.
static HALFWORDS: [[u16; SEGMENTS]; 4] =
    [halfwords(0, 0), halfwords(0, 16), halfwords(1, 0), halfwords(1, 16)];

/// Halfwords of the powers from `first` on, above so many bits.
const fn halfwords(first: usize, bits: u32) -> [u16; SEGMENTS] {
    let (powers, mut halves) = (exp::powers(), [0; SEGMENTS]);
    let mut i = 0;
    while i < SEGMENTS {
        halves[i] = (powers[first + i] >> bits) as u16;
        i += 1;
    }
    halves
}

/// [`HALFWORDS`], 32 in a vector.
struct Table([[__m512i; SEGMENTS / 32]; 4]);

impl Table {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    #[inline]
    fn new() -> Table {
        let mut table = [[_mm512_setzero_si512(); SEGMENTS / 32]; 4];
        for (vectors, halves) in table.iter_mut().zip(&HALFWORDS) {
            for (vector, halves) in vectors.iter_mut().zip(halves.as_chunks::<32>().0) {
                // SAFETY: there are 32 halfwords.
                *vector = unsafe { _mm512_loadu_si512(halves.as_ptr().cast()) };
            }
        }
        Table(table)
    }

    /// The words that the halfwords of `segments`, the first vector's and the second's in turn, say:
    /// of the lower halfwords `[low]` and the upper ones.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    #[inline]
    fn words(&self, low: usize, segments: __m512i) -> [__m512i; 2] {
        let beyond = _mm512_test_epi16_mask(segments, _mm512_set1_epi16(64));
        let [low, high] = [&self.0[low], &self.0[low + 1]].map(|&[a, b, c, d]| {
            let first = _mm512_permutex2var_epi16(a, segments, b);
            let second = _mm512_permutex2var_epi16(c, segments, d);
            _mm512_mask_blend_epi16(beyond, first, second)
        });
        [
            _mm512_mask_blend_epi16(UPPER, low, _mm512_slli_epi32::<16>(high)),
            _mm512_mask_blend_epi16(UPPER, _mm512_srli_epi32::<16>(low), high),
        ]
    }

    /// `exp2_negative` of two vectors' exponents, less the bits that are dropped.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    #[inline]
    fn powers(&self, [a, b]: [__m512i; 2]) -> [__m512i; 2] {
        // Only the lower seven bits of a segment's number count.
        let upper = _mm512_slli_epi32::<{ 16 - WITHIN_BITS }>(b);
        let segments = _mm512_mask_blend_epi16(UPPER, _mm512_srli_epi32::<WITHIN_BITS>(a), upper);
        let (high, next) = (self.words(0, segments), self.words(2, segments));
        [power(a, high[0], next[0]), power(b, high[1], next[1])]
    }
}

/// The upper half of every word.
const UPPER: __mmask32 = 0xaaaa_aaaa;

/// The power of an exponent between those where its segment begins and ends.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
fn power(exponent: __m512i, high: __m512i, next: __m512i) -> __m512i {
    let whole = _mm512_srli_epi32::<EXPONENT_FRACTION>(exponent);
    let within = _mm512_and_si512(exponent, _mm512_set1_epi32((1 << WITHIN_BITS) - 1));
    let steps = _mm512_mullo_epi32(_mm512_sub_epi32(high, next), within);
    let power = _mm512_sub_epi32(high, _mm512_srli_epi32::<WITHIN_BITS>(steps));
    // A shift by more than a lane's bits leaves nothing.
    _mm512_srli_epi32::<POWER_DROP>(_mm512_srlv_epi32(power, whole))
}

/// `⌊2^RECIPROCAL / sum⌋`, for sums from 2^24 to 2^30.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn reciprocals(sums: __m512i) -> __m512i {
    let low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(sums));
    let high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(sums));
    let [low, high] = [low, high].map(|sums| {
        let one = _mm512_set1_epi64(1 << RECIPROCAL);
        // The quotient's 53 bits may be rounded up to the next integer.
        let exact = _mm512_div_pd(_mm512_cvtepu64_pd(one), _mm512_cvtepu64_pd(sums));
        let quotient = _mm512_cvttpd_epu64(exact);
        let above = _mm512_cmpgt_epu64_mask(_mm512_mul_epu32(quotient, sums), one);
        _mm512_mask_sub_epi64(quotient, above, quotient, _mm512_set1_epi64(1))
    });
    let [low, high] = [low, high].map(|x| _mm512_cvtepi64_epi32(x));
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
}

/// A power as a probability.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
fn probability(power: __m512i, reciprocal: __m512i) -> __m512i {
    const SHIFT: u32 = RECIPROCAL - ATTENTION_FRACTION - 32;
    let even = _mm512_srli_epi64::<32>(_mm512_mul_epu32(power, reciprocal));
    let odd = _mm512_mul_epu32(_mm512_srli_epi64::<32>(power), _mm512_srli_epi64::<32>(reciprocal));
    let upper = _mm512_mask_blend_epi32(0xaaaa, even, odd);
    let half = _mm512_set1_epi32(1 << (SHIFT - 1));
    let rounded = _mm512_srli_epi32::<SHIFT>(_mm512_add_epi32(upper, half));
    _mm512_min_epu32(rounded, _mm512_set1_epi32(i16::MAX.into()))
}
