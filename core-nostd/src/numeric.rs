//! Exponential and logarithm in fixed point, for targets without a float unit.
use fixed::types::I32F32;

/// ln 2.
const LN_2: I32F32 = I32F32::LN_2;
/// Beyond this, `exp(-x)` is below the resolution of the result.
const LARGEST: i32 = 22;

/// `exp(-x)` for `x >= 0`, within 1e-8; 0 beyond the resolution.
///
/// Range reduction by powers of two, then the exponential series on `[0, ln 2)`.
pub fn exp_neg(x: I32F32) -> I32F32 {
    if x <= 0 {
        return I32F32::ONE;
    }
    if x >= LARGEST {
        return I32F32::ZERO;
    }
    let halvings = (x / LN_2).to_num::<i32>();
    let rest = x - LN_2 * I32F32::from_num(halvings);
    let series = (1..=11).rev().fold(I32F32::ONE, |sum, k| I32F32::ONE - rest * sum / k);
    series >> halvings
}

/// `ln(x)` for `x >= 1`, within 1e-7; 0 below.
///
/// Range reduction by powers of two, then the series of `atanh((m-1)/(m+1))`.
pub fn ln(x: I32F32) -> I32F32 {
    if x <= 1 {
        return I32F32::ZERO;
    }
    let doublings = x.int_log2();
    let mantissa = x >> doublings;
    let s = (mantissa - I32F32::ONE) / (mantissa + I32F32::ONE);
    let square = s * s;
    let series = (0..9).rev().fold(I32F32::ZERO, |sum, k| sum * square + I32F32::ONE / (2 * k + 1));
    2 * s * series + LN_2 * I32F32::from_num(doublings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_neg_is_close_and_never_rises() {
        let mut last = I32F32::ONE;
        for i in 0..25_000 {
            let x = f64::from(i) / 1000.0;
            let value = exp_neg(I32F32::from_num(x));
            assert!((value.to_num::<f64>() - libm::exp(-x)).abs() < 1e-8, "exp(-{x})");
            assert!(value <= last);
            last = value;
        }
    }

    #[test]
    fn ln_is_close() {
        for i in 0..30_000 {
            let x = 1.0 + f64::from(i) / 100.0;
            let value = ln(I32F32::from_num(x)).to_num::<f64>();
            assert!((value - libm::log(x)).abs() < 1e-7, "ln({x}) = {value}");
        }
    }
}
