//! Gates, and what they let pass.
use core::arch::x86_64::*;

use super::{
    lanes, load,
    rescale::{Place, Vector, Within},
};
use crate::net::infer::kernel::Rescaling;

/// Numbers whose entries are looked up together.
const TOGETHER: usize = 64;

/// Interpolation of SiLU's or another's remainder, as `Curves` has it.
#[derive(Clone, Copy)]
struct Gate<'t> {
    table: &'t [[u8; 2]],
    last: __m512i,
    fraction: __m128i,
    half: __m512i,
    shift: __m128i,
    left: __m128i,
}

impl<'t> Gate<'t> {
    /// `bits` are those of the interpolation, of the shift after it, and of the last one to the
    /// left. The table must have at least two entries.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    #[inline]
    fn new(table: &'t [[u8; 2]], bits: [u32; 3]) -> Gate<'t> {
        let [fraction, shift, left] = bits.map(|bits| _mm_cvtsi32_si128(bits.cast_signed()));
        let last = _mm512_set1_epi32(table.len() as i32 - 2);
        let half = _mm512_set1_epi32(1 << (bits[1] - 1));
        Gate { table, last, fraction, half, shift, left }
    }

    /// Number of the table's interval that holds `|x|`: the last one's where it is past the end.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    #[inline]
    fn interval(&self, x: __m512i) -> __m512i {
        _mm512_min_epu32(_mm512_srl_epi32(_mm512_abs_epi32(x), self.fraction), self.last)
    }

    /// The intervals' ends, in two halves each. Not inlined, so that the compiler does not make it
    /// the processor's own gathering, which takes longer.
    ///
    /// # Safety
    /// Each number is [`Gate::interval`]'s.
    #[inline(never)]
    unsafe fn look_up(&self, intervals: &mut [u32; TOGETHER]) {
        for interval in intervals {
            // SAFETY: the interval is one of the table's, which has an entry more.
            let ends =
                unsafe { self.table.as_ptr().add(*interval as usize).cast::<[u8; 4]>().read() };
            *interval = u32::from_le_bytes(ends);
        }
    }

    /// `(max(x, 0) + remainder(|x|)) · 2^left`, given the ends of its interval.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    #[inline]
    fn apply(&self, x: __m512i, ends: __m512i) -> __m512i {
        let t = _mm512_abs_epi32(x);
        let index = _mm512_srl_epi32(t, self.fraction);
        let inside = _mm512_cmple_epu32_mask(index, self.last);
        let ends = _mm512_maskz_mov_epi32(inside, ends);
        let a = _mm512_srai_epi32::<16>(_mm512_slli_epi32::<16>(ends));
        let b = _mm512_srai_epi32::<16>(ends);
        let within = _mm512_sub_epi32(t, _mm512_sll_epi32(index, self.fraction));
        let slope = _mm512_mullo_epi32(_mm512_sub_epi32(b, a), within);
        let exact = _mm512_add_epi32(_mm512_sll_epi32(a, self.fraction), slope);
        let remainder = _mm512_sra_epi32(_mm512_add_epi32(exact, self.half), self.shift);
        // The slope past the table's end is zero times what it may be.
        let positive = _mm512_max_epi32(x, _mm512_setzero_si512());
        _mm512_sll_epi32(_mm512_add_epi32(positive, remainder), self.left)
    }
}

/// Gates of sums that are rescaled into `±limit`; as many as there are of both.
///
/// # Safety
/// The table has at least two entries.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub unsafe fn silu(
    table: &[[u8; 2]],
    bits: [u32; 3],
    sums: &[i32],
    rescaling: &Rescaling,
    limit: i32,
    gates: &mut [i32],
) {
    let (gate, vector, within) =
        (Gate::new(table, bits), Vector::new(rescaling), Within::new(limit));
    for (sums, gates) in sums.chunks(TOGETHER).zip(gates.chunks_mut(TOGETHER)) {
        let mut xs = [_mm512_setzero_si512(); TOGETHER / 16];
        let mut intervals = [0; TOGETHER];
        let places = intervals.as_chunks_mut::<16>().0;
        for ((sums, x), places) in sums.chunks(16).zip(&mut xs).zip(places) {
            // SAFETY: there are as many sums as the mask has lanes, and sixteen places.
            unsafe {
                let sums = load::<1>(sums.as_ptr(), lanes(sums.len()));
                *x = within.bring(vector.apply(sums));
                _mm512_storeu_si512(places.as_mut_ptr().cast(), gate.interval(*x));
            }
        }
        // SAFETY: that is what they are, or 0.
        unsafe { gate.look_up(&mut intervals) };
        let ends = intervals.as_chunks::<16>().0;
        for ((gates, x), ends) in gates.chunks_mut(16).zip(xs).zip(ends) {
            // SAFETY: there are sixteen ends, and as many gates as the mask has lanes.
            unsafe {
                let y = gate.apply(x, _mm512_loadu_si512(ends.as_ptr().cast()));
                _mm512_mask_storeu_epi32(gates.as_mut_ptr(), lanes(gates.len()), y);
            }
        }
    }
}

/// What is done to a rescaled sum before and after its product with a gate.
#[derive(Debug, Clone, Copy)]
pub struct Product {
    /// Bits by which it is shifted before.
    pub left: u32,
    /// What rescales the product.
    pub half: i32,
    pub right: u32,
    pub limit: i32,
}

/// Sets a column of tokens, whose words these are, to rescaled sums times their gates; as many as
/// there are of all three.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub fn hidden(
    gates: &[i32],
    sums: &[i32],
    rescaling: &Rescaling,
    product: Product,
    words: &mut [u32],
    place: Place,
) {
    let Product { left, half, right, limit } = product;
    let (vector, within) = (Vector::new(rescaling), Within::new(limit));
    let left = _mm_cvtsi32_si128(left.cast_signed());
    let after = Vector::new(&Rescaling { multiplier: 0, left: 0, half, right });
    for ((gates, sums), words) in gates.chunks(16).zip(sums.chunks(16)).zip(words.chunks_mut(16)) {
        let mask = lanes(gates.len().min(sums.len()).min(words.len()));
        // SAFETY: there are as many of all as the mask has lanes.
        unsafe {
            let y = _mm512_sll_epi32(vector.apply(load::<1>(sums.as_ptr(), mask)), left);
            let hidden = within.bring(after.by(load::<1>(gates.as_ptr(), mask), y));
            place.set(words.as_mut_ptr(), mask, hidden);
        }
    }
}
