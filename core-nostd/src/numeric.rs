//! The logarithm in fixed point, for targets without a float unit.
use fixed::types::I32F32;

/// `ln(x)` for `x >= 1`, within 1e-7; 0 below.
///
/// Range reduction by powers of two, then the series of `atanh((m-1)/(m+1))`.
pub fn ln(x: I32F32) -> I32F32 {
    let Some(doublings) = x.checked_int_log2().filter(|_| x > 1) else { return I32F32::ZERO };
    let mantissa = x >> doublings;
    let s = (mantissa - I32F32::ONE) / (mantissa + I32F32::ONE);
    let square = s * s;
    let series = (0..9).rev().fold(I32F32::ZERO, |sum, k| sum * square + I32F32::ONE / (2 * k + 1));
    2 * s * series + I32F32::LN_2 * I32F32::from_num(doublings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ln_is_close() {
        for i in 0..30_000 {
            let x = 1.0 + f64::from(i) / 100.0;
            let value = ln(I32F32::from_num(x)).to_num::<f64>();
            assert!((value - libm::log(x)).abs() < 1e-7, "ln({x}) = {value}");
        }
    }
}
