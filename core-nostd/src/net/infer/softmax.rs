//! Softmax in integers: maximum subtracted, powers of two in fixed point, one rounding.
use core::num::NonZeroU64;

use super::exp::{POWER_FRACTION, exp2_negative};
#[cfg(not(kernels = "dsp"))]
use super::{
    arithmetic::{Shift, quotient, rescale},
    vectors::vectorized,
};
#[cfg(not(kernels = "dsp"))]
use crate::inputs::SQUARES;

/// Fraction bits of attention probabilities.
pub const ATTENTION_FRACTION: u32 = 15;
/// A move's probability of one.
pub const PROBABILITY_ONE: u32 = 1 << 16;
/// `log2(e)` in 16 fraction bits: from logits to binary exponents.
const LOG2_E: u64 = 94_548;

/// Bits of a power that are dropped, so that a sum of 64 stays within 2^30.
pub const POWER_DROP: u32 = 6;
/// Fraction bits of the reciprocal of a sum of powers, less those of the sum.
pub const RECIPROCAL: u32 = 2 * POWER_FRACTION - POWER_DROP;

/// Turns the binary exponents of all squares, in 16 fraction bits, into probabilities in
/// [`ATTENTION_FRACTION`] bits. Each is rounded once; their sum exceeds 1.0 by rounding only.
/// `scores` are overwritten.
#[cfg(not(kernels = "dsp"))]
pub fn attention(scores: &mut [i32; SQUARES], probabilities: &mut [i16; SQUARES]) {
    #[cfg(kernels = "x86")]
    if super::kernel::attention(scores, probabilities) {
        return;
    }
    attention_by_definition(scores, probabilities);
}

#[cfg(not(kernels = "dsp"))]
vectorized! {
    /// [`attention`] by its definition.
    #[inline(never)]
    pub fn attention_by_definition(scores: &mut [i32; SQUARES], probabilities: &mut [i16; SQUARES]) {
        const SHIFT: Shift = Shift::saturating((RECIPROCAL - ATTENTION_FRACTION) as i32);
        let most = scores.iter().copied().fold(i32::MIN, i32::max);
        let mut sum = 0u32;
        for score in scores.iter_mut() {
            let power = exp2_negative(most.abs_diff(*score)) >> POWER_DROP;
            sum += power;
            *score = power.cast_signed();
        }
        // The largest power is 2^24: neither the sum is smaller nor the reciprocal larger than 2^30.
        let reciprocal = quotient(1 << (RECIPROCAL - 32), sum).cast_signed();
        for (probability, &power) in probabilities.iter_mut().zip(scores.iter()) {
            *probability = rescale(power, reciprocal, SHIFT, 0, i16::MAX.into()) as i16;
        }
    }
}

/// `e^(logit - most)` in 30 fraction bits, for logits in 16 fraction bits, none above `most`.
fn power(logit: i32, most: i32) -> u64 {
    let exponent = (u64::from(most.abs_diff(logit)) * LOG2_E) >> 16;
    u64::from(exp2_negative(u32::try_from(exponent).unwrap_or(u32::MAX)))
}

/// What the moves' logits come to together.
#[derive(Debug, Clone, Copy)]
pub struct Total {
    most: i32,
    sum: NonZeroU64,
}

impl Total {
    /// Of at most 2^18 logits in 16 fraction bits.
    pub fn of(logits: impl Iterator<Item = i32> + Clone) -> Total {
        let most = logits.clone().max().unwrap_or(0);
        let sum = logits.map(|logit| power(logit, most)).sum();
        Total { most, sum: NonZeroU64::new(sum).unwrap_or(NonZeroU64::MIN) }
    }

    /// The probability of one of the logits, in units of 1/[`PROBABILITY_ONE`].
    pub fn probability(self, logit: i32) -> u32 {
        let scaled = power(logit, self.most) * u64::from(PROBABILITY_ONE);
        ((scaled + self.sum.get() / 2) / self.sum) as u32
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn exact(exponents: &[f64]) -> Vec<f64> {
        let most = exponents.iter().copied().fold(f64::MIN, f64::max);
        let powers: Vec<f64> = exponents.iter().map(|e| (e - most).exp2()).collect();
        let sum: f64 = powers.iter().sum();
        powers.iter().map(|p| p / sum).collect()
    }

    proptest! {
        #[test]
        fn attention_is_within_a_unit_of_f64(scores in prop::collection::vec(-400_000..400_000, 64)) {
            let exponents: Vec<f64> = scores.iter().map(|&s| f64::from(s) / 65_536.0).collect();
            let mut probabilities = [0; SQUARES];
            attention(&mut scores.clone().try_into().unwrap(), &mut probabilities);
            for (p, exact) in probabilities.iter().zip(exact(&exponents)) {
                prop_assert!((f64::from(*p) - exact * 32_768.0).abs() <= 1.0);
            }
        }

        #[test]
        fn attention_bounds_any_scores(scores in prop::collection::vec(any::<i32>(), SQUARES)) {
            let scores: [i32; SQUARES] = scores.try_into().unwrap();
            let mut probabilities = [0; SQUARES];
            attention(&mut scores.clone(), &mut probabilities);
            let sum: i32 = probabilities.iter().map(|&p| i32::from(p)).sum();
            prop_assert!(probabilities.iter().all(|&p| p >= 0));
            prop_assert!((32_768 - 33..=32_768 + 32).contains(&sum), "{sum}");
        }

        #[test]
        fn move_probabilities_are_within_a_unit_of_f64(
            logits in prop::collection::vec(-600_000..600_000, 1..200),
        ) {
            let exponents: Vec<f64> =
                logits.iter().map(|&l| f64::from(l) / 65_536.0 * std::f64::consts::LOG2_E).collect();
            let exact = exact(&exponents);
            let total = Total::of(logits.iter().copied());
            for (&logit, exact) in logits.iter().zip(exact) {
                let p = total.probability(logit);
                prop_assert!((f64::from(p) - exact * 65_536.0).abs() <= 1.0, "{p} {exact}");
            }
        }
    }
}
