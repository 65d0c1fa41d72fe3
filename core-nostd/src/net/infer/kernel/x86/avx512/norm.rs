//! Norms of sixteen rows, and their way into the lanes.
use core::arch::x86_64::*;

use super::{
    lanes,
    rescale::{Vector, Within},
    transpose::transposed,
};
use crate::net::infer::kernel::Rescaling;

/// Rows that are normalized together.
pub const ROWS: usize = 16;

/// Where sixteen tokens of a tile are.
pub struct Tokens<'t> {
    pub words: &'t mut [u32],
    /// Words from a column's to the next one's.
    pub stride: usize,
    /// The first token.
    pub first: usize,
    /// Largest magnitude of an activation, at most 32,767.
    pub limit: i32,
    /// What flips the bits of activations that are bytes; `None` if they are halfwords.
    pub flip: Option<u32>,
}

/// The sum of a row's squares.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub fn sum_of_squares(row: &[i16]) -> u64 {
    let mut sum = _mm512_setzero_si512();
    for row in row.chunks(32) {
        let mask = u32::MAX >> (32 - row.len());
        // SAFETY: there are as many numbers as the mask has lanes.
        let x = unsafe { _mm512_maskz_loadu_epi16(mask, row.as_ptr()) };
        // At most 2^31: without a sign it fits.
        let squares = _mm512_madd_epi16(x, x);
        let even = _mm512_and_si512(squares, _mm512_set1_epi64(u32::MAX.into()));
        let both = _mm512_add_epi64(even, _mm512_srli_epi64::<32>(squares));
        sum = _mm512_add_epi64(sum, both);
    }
    _mm512_reduce_add_epi64(sum).cast_unsigned()
}

/// Sets tokens to rows times their gains, little-endian, each rescaled by its own. There are as many
/// columns as gains; columns past them become 0.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub fn norm_rows(
    rows: &[i16],
    gains: &[[u8; 2]],
    rescalings: &[Rescaling; ROWS],
    tokens: &mut Tokens<'_>,
) {
    let within = Within::new(tokens.limit);
    let columns_of_word = if tokens.flip.is_some() { 4 } else { 2 };
    for start in (0..gains.len()).step_by(16 * columns_of_word) {
        let mut words = [_mm512_setzero_si512(); ROWS];
        let rows = rows.chunks_exact(gains.len());
        for ((row, rescaling), words) in rows.zip(rescalings).zip(&mut words) {
            let (row, gains, vector) = (&row[start..], &gains[start..], Vector::new(rescaling));
            let part =
                |number: usize| within.bring(vector.apply(products(row, gains, 16 * number)));
            *words = match tokens.flip {
                Some(flip) => bytes([part(0), part(1), part(2), part(3)], flip),
                None => halves([part(0), part(1)]),
            };
        }
        let places = tokens.words.chunks_mut(tokens.stride).skip(start / columns_of_word);
        for (words, place) in transposed(words).into_iter().zip(places) {
            let place = place.get_mut(tokens.first..).and_then(|place| place.first_chunk_mut());
            let Some(place): Option<&mut [u32; ROWS]> = place else { continue };
            // SAFETY: there are sixteen words.
            unsafe { _mm512_storeu_si512(place.as_mut_ptr().cast(), words) };
        }
    }
}

/// A row's numbers from `first` on times their gains; 0 where there are none.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
fn products(row: &[i16], gains: &[[u8; 2]], first: usize) -> __m512i {
    let (Some(row), Some(gains)) = (row.get(first..), gains.get(first..)) else {
        return _mm512_setzero_si512();
    };
    let mask = lanes(row.len().min(gains.len()));
    // SAFETY: there are as many of both as the mask has lanes.
    let (x, gains) = unsafe {
        let gains = gains.as_ptr().cast();
        (_mm256_maskz_loadu_epi16(mask, row.as_ptr()), _mm256_maskz_loadu_epi16(mask, gains))
    };
    _mm512_mullo_epi32(_mm512_cvtepi16_epi32(x), _mm512_cvtepi16_epi32(gains))
}

/// Words of two columns, in the order of the weights: of each four the first and the third, then the
/// second and the fourth.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
fn halves(parts: [__m512i; 2]) -> __m512i {
    let [low, high] = parts.map(|part| _mm512_cvtepi32_epi16(part));
    let all = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
    let order = _mm_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15);
    _mm512_shuffle_epi8(all, _mm512_broadcast_i32x4(order))
}

/// Words of four columns in that order, their bits flipped.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
fn bytes(parts: [__m512i; 4], flip: u32) -> __m512i {
    let [a, b, c, d] = parts.map(|part| _mm512_cvtepi32_epi8(part));
    let all = _mm512_inserti32x4::<1>(_mm512_castsi128_si512(a), b);
    let all = _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(all, c), d);
    let order = _mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15);
    let ordered = _mm512_shuffle_epi8(all, _mm512_broadcast_i32x4(order));
    _mm512_xor_si512(ordered, _mm512_set1_epi32(flip.cast_signed()))
}
