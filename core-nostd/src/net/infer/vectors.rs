//! Functions compiled once for each kind of vectors of x86-64, and which of them runs.
//!
//! A program for x86-64 may use the vectors of 2003 only; wider ones are looked for when it runs,
//! which takes the standard library (feature `std`). Everywhere else a function is compiled once,
//! for the target. The result is the same: integers do not depend on how many are added at once.
//!
//! A call that enters a function compiled for other vectors is `unsafe`, because a processor
//! without them would meet an unknown instruction: hence the `unsafe` of this file.
#[cfg(kernels = "x86")]
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Numbers that loops take together, so that a vector is filled and none is left over.
pub const LANES: usize = if cfg!(kernels = "x86") { 16 } else { 1 };

/// A kind of vectors, each with all that comes before it.
#[cfg(kernels = "x86")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vectors {
    /// What every processor of the target has.
    Target,
    /// AVX2: 256 bits.
    Avx2,
    /// AVX-512 with BW, DQ, VL and VNNI: 512 bits, and products of bytes summed in one
    /// instruction.
    Avx512,
}

#[cfg(kernels = "x86")]
impl Vectors {
    /// From the least to the best.
    pub const ALL: [Vectors; 3] = [Vectors::Target, Vectors::Avx2, Vectors::Avx512];

    /// The best that this processor has.
    pub fn best() -> Vectors {
        use std::is_x86_feature_detected as has;
        if !has!("avx2") {
            return Vectors::Target;
        }
        let all = has!("avx512f")
            && has!("avx512bw")
            && has!("avx512dq")
            && has!("avx512vl")
            && has!("avx512vnni");
        if all { Vectors::Avx512 } else { Vectors::Avx2 }
    }

    /// Lets inference use these, as far as the processor has them: to compare and to measure.
    /// Every answer stays the same.
    pub fn limit(self) {
        USED.store(self.min(Vectors::best()) as u8, Relaxed);
    }

    /// Those that inference uses: the best, unless they were limited.
    #[inline]
    pub fn used() -> Vectors {
        match USED.load(Relaxed) {
            0 => Vectors::Target,
            1 => Vectors::Avx2,
            2 => Vectors::Avx512,
            _ => {
                Vectors::Avx512.limit();
                Vectors::best()
            }
        }
    }
}

/// What [`Vectors::used`] answers, once it is known. Only [`Vectors::limit`] writes it, and never
/// what the processor lacks.
#[cfg(kernels = "x86")]
static USED: AtomicU8 = AtomicU8::new(u8::MAX);

/// A function without result that is compiled for every kind of vectors; calling it picks one.
#[cfg(kernels = "x86")]
macro_rules! vectorized {
    (
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $body:block
    ) => {
        $(#[$attribute])*
        #[allow(unsafe_code, clippy::too_many_arguments)]
        $visibility fn $name($($argument: $kind),*) {
            use $crate::net::infer::Vectors;
            #[inline(always)]
            fn body($($argument: $kind),*) $body
            #[target_feature(enable = "avx2")]
            fn avx2($($argument: $kind),*) {
                body($($argument),*)
            }
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
            fn avx512($($argument: $kind),*) {
                body($($argument),*)
            }
            match Vectors::used() {
                // SAFETY: only vectors that the processor has are used.
                Vectors::Avx512 => unsafe { avx512($($argument),*) },
                // SAFETY: as above.
                Vectors::Avx2 => unsafe { avx2($($argument),*) },
                Vectors::Target => body($($argument),*),
            }
        }
    };
}

/// A function without result, compiled for the target.
#[cfg(not(kernels = "x86"))]
macro_rules! vectorized {
    ($($function:tt)*) => { $($function)* };
}

pub(crate) use vectorized;
