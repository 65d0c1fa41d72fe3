//! Sums on their way to the next product.
use core::arch::x86_64::*;

use super::{lanes, load};
use crate::net::infer::kernel::Rescaling;

/// A [`Rescaling`] in every lane.
#[derive(Clone, Copy)]
pub struct Vector {
    multiplier: __m512i,
    left: __m128i,
    half: __m512i,
    right: __m128i,
}

impl Vector {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    #[inline]
    pub fn new(rescaling: &Rescaling) -> Vector {
        let Rescaling { multiplier, left, half, right } = *rescaling;
        Vector {
            multiplier: _mm512_set1_epi32(multiplier),
            left: _mm_cvtsi32_si128(left.cast_signed()),
            half: _mm512_set1_epi32(half),
            right: _mm_cvtsi32_si128(right.cast_signed()),
        }
    }

    /// Rescaled numbers, at most 2^29 in magnitude.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    #[inline]
    pub fn apply(&self, x: __m512i) -> __m512i {
        self.by(x, self.multiplier)
    }

    /// The same by multipliers of their own.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    #[inline]
    pub fn by(&self, x: __m512i, multipliers: __m512i) -> __m512i {
        let upper = upper_words(_mm512_sll_epi32(x, self.left), multipliers);
        _mm512_sra_epi32(_mm512_add_epi32(upper, self.half), self.right)
    }
}

/// `⌊x · y / 2^32⌋`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
fn upper_words(x: __m512i, y: __m512i) -> __m512i {
    let even = _mm512_srli_epi64::<32>(_mm512_mul_epi32(x, y));
    let odd = _mm512_mul_epi32(_mm512_srli_epi64::<32>(x), _mm512_srli_epi64::<32>(y));
    _mm512_mask_blend_epi32(0xaaaa, even, odd)
}

/// Numbers brought into `±limit`.
#[derive(Clone, Copy)]
pub struct Within(__m512i, __m512i);

impl Within {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    #[inline]
    pub fn new(limit: i32) -> Within {
        Within(_mm512_set1_epi32(-limit), _mm512_set1_epi32(limit))
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    #[inline]
    pub fn bring(&self, x: __m512i) -> __m512i {
        _mm512_max_epi32(_mm512_min_epi32(x, self.1), self.0)
    }
}

/// Rescales sums in place, into `±limit`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub fn rescale_all(sums: &mut [i32], rescaling: &Rescaling, limit: i32) {
    let (vector, within) = (Vector::new(rescaling), Within::new(limit));
    for sums in sums.chunks_mut(16) {
        let mask = lanes(sums.len());
        // SAFETY: there are as many sums as the mask has lanes.
        unsafe {
            let y = within.bring(vector.apply(load::<1>(sums.as_ptr(), mask)));
            _mm512_mask_storeu_epi32(sums.as_mut_ptr(), mask, y);
        }
    }
}

/// Rescales sums into `out`, as many as there are of both.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub fn rescale_to(sums: &[i32], rescaling: &Rescaling, out: &mut [i32]) {
    let vector = Vector::new(rescaling);
    for (sums, out) in sums.chunks(16).zip(out.chunks_mut(16)) {
        let mask = lanes(sums.len().min(out.len()));
        // SAFETY: there are as many of both as the mask has lanes.
        unsafe {
            let y = vector.apply(load::<1>(sums.as_ptr(), mask));
            _mm512_mask_storeu_epi32(out.as_mut_ptr(), mask, y);
        }
    }
}

/// Which bytes of a word are one column's, and what flips their bits.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Bits below the column's.
    pub shift: u32,
    /// Of every lane's four bytes, the column's.
    pub bytes: __mmask64,
    pub flip: u32,
}

impl Place {
    /// Sets the column in the words of lanes of the mask.
    ///
    /// # Safety
    /// They can be read and written.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    #[inline]
    pub unsafe fn set(&self, words: *mut u32, mask: __mmask16, values: __m512i) {
        let shifted = _mm512_sll_epi32(values, _mm_cvtsi32_si128(self.shift.cast_signed()));
        let flipped = _mm512_xor_si512(shifted, _mm512_set1_epi32(self.flip.cast_signed()));
        // SAFETY: the caller's.
        unsafe {
            let others = load::<1>(words.cast(), mask);
            let all = _mm512_mask_mov_epi8(others, self.bytes, flipped);
            _mm512_mask_storeu_epi32(words.cast(), mask, all);
        }
    }
}

/// Sets a column of tokens, whose words these are, to rescaled sums within `±limit`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub fn store_column(
    words: &mut [u32],
    place: Place,
    sums: &[i32],
    rescaling: &Rescaling,
    limit: i32,
) {
    let (vector, within) = (Vector::new(rescaling), Within::new(limit));
    for (sums, words) in sums.chunks(16).zip(words.chunks_mut(16)) {
        let mask = lanes(sums.len().min(words.len()));
        // SAFETY: there are as many of both as the mask has lanes.
        unsafe {
            let y = within.bring(vector.apply(load::<1>(sums.as_ptr(), mask)));
            place.set(words.as_mut_ptr(), mask, y);
        }
    }
}
