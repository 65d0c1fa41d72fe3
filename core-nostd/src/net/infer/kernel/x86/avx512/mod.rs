//! The loops with 512 bits, and with VNNI's sums of products.
mod bytes;
mod gates;
mod halves;
mod norm;
mod products;
mod queries;
mod rescale;
mod single;
mod transpose;

use core::arch::x86_64::*;

pub use bytes::byte_products;
pub use gates::{Product, hidden, silu};
pub use halves::half_products;
pub use norm::{ROWS, Tokens, norm_rows, sum_of_squares};
pub use products::add_products;
pub use queries::probabilities;
pub use rescale::{Place, rescale_all, rescale_to, store_column};
pub use single::single;
pub use transpose::add_block;

/// Loads the lanes of the mask, or all if T is more than one.
///
/// # Safety
/// They can be read.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
unsafe fn load<const T: usize>(at: *const i32, mask: __mmask16) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        match T {
            1 => _mm512_maskz_loadu_epi32(mask, at),
            _ => _mm512_loadu_si512(at.cast()),
        }
    }
}

/// The first lanes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
fn lanes(count: usize) -> __mmask16 {
    (1u32.unbounded_shl(count as u32).wrapping_sub(1)) as u16
}

/// Stores the lanes of the mask, or all if T is more than one.
///
/// # Safety
/// They can be written.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
unsafe fn store<const T: usize>(at: *mut i32, mask: __mmask16, values: __m512i) {
    // SAFETY: the caller's.
    unsafe {
        match T {
            1 => _mm512_mask_storeu_epi32(at, mask, values),
            _ => _mm512_storeu_si512(at.cast(), values),
        }
    }
}
