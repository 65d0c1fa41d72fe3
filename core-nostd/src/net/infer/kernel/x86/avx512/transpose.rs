//! Channels of squares, added to the squares' rows.
use core::arch::x86_64::*;

use crate::{inputs::SQUARES, net::infer::vectors::LANES};

/// Adds sixteen channels of all squares to the channels from `first` on of a stream, of at most as
/// many rows of `width`; into ±32,767.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub fn add_block(stream: &mut [i16], width: usize, first: usize, block: &[[i32; SQUARES]; LANES]) {
    // What is larger comes to the same end.
    let (low, high) = (_mm512_set1_epi32(-0xffff), _mm512_set1_epi32(0xffff));
    let least = _mm512_set1_epi32(-i32::from(i16::MAX));
    for (number, rows) in stream.chunks_mut(16 * width).take(SQUARES / 16).enumerate() {
        let mut ys = [_mm512_setzero_si512(); 16];
        for (y, channel) in ys.iter_mut().zip(block) {
            // SAFETY: a channel has four times sixteen squares.
            let x = unsafe { _mm512_loadu_si512(channel.as_ptr().add(16 * number).cast()) };
            *y = _mm512_max_epi32(_mm512_min_epi32(x, high), low);
        }
        for (row, y) in rows.chunks_exact_mut(width).zip(transposed(ys)) {
            let Some(row) = row.get_mut(first..).and_then(|row| row.first_chunk_mut::<16>()) else {
                return;
            };
            // SAFETY: there are sixteen channels.
            unsafe {
                let x = _mm512_cvtepi16_epi32(_mm256_loadu_si256(row.as_ptr().cast()));
                let sum = _mm512_max_epi32(_mm512_add_epi32(x, y), least);
                _mm256_storeu_si256(row.as_mut_ptr().cast(), _mm512_cvtsepi32_epi16(sum));
            }
        }
    }
}

/// Sixteen vectors, the first of the first lanes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
pub fn transposed(x: [__m512i; 16]) -> [__m512i; 16] {
    // Lanes of 128 bits of four vectors are transposed, then these lanes.
    let mut y = x;
    for i in 0..8 {
        y[2 * i] = _mm512_unpacklo_epi32(x[2 * i], x[2 * i + 1]);
        y[2 * i + 1] = _mm512_unpackhi_epi32(x[2 * i], x[2 * i + 1]);
    }
    let mut z = y;
    for i in 0..4 {
        let [a, b, c, d] = [y[4 * i], y[4 * i + 1], y[4 * i + 2], y[4 * i + 3]];
        z[4 * i] = _mm512_unpacklo_epi64(a, c);
        z[4 * i + 1] = _mm512_unpackhi_epi64(a, c);
        z[4 * i + 2] = _mm512_unpacklo_epi64(b, d);
        z[4 * i + 3] = _mm512_unpackhi_epi64(b, d);
    }
    // Now lane l of z[4·i + j] has vectors 4·i to 4·i + 3 at 4·l + j.
    let mut out = z;
    for j in 0..4 {
        let [a, b, c, d] = [z[j], z[4 + j], z[8 + j], z[12 + j]];
        let (even_low, even_high) =
            (_mm512_shuffle_i32x4::<0x88>(a, b), _mm512_shuffle_i32x4::<0x88>(c, d));
        let (odd_low, odd_high) =
            (_mm512_shuffle_i32x4::<0xdd>(a, b), _mm512_shuffle_i32x4::<0xdd>(c, d));
        out[j] = _mm512_shuffle_i32x4::<0x88>(even_low, even_high);
        out[8 + j] = _mm512_shuffle_i32x4::<0xdd>(even_low, even_high);
        out[4 + j] = _mm512_shuffle_i32x4::<0x88>(odd_low, odd_high);
        out[12 + j] = _mm512_shuffle_i32x4::<0xdd>(odd_low, odd_high);
    }
    out
}
