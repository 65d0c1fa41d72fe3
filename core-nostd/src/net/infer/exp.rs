//! Powers of two with a fractional exponent, for the softmax.

/// Fraction bits of the exponent.
pub const EXPONENT_FRACTION: u32 = 16;
/// Fraction bits of the result.
pub const POWER_FRACTION: u32 = 30;
const SEGMENT_BITS: u32 = 7;
/// Bits of an exponent within a segment of the table.
pub const WITHIN_BITS: u32 = EXPONENT_FRACTION - SEGMENT_BITS;
/// Segments of the table.
pub const SEGMENTS: usize = 1 << SEGMENT_BITS;
/// 2^(-1/128) in 64 fraction bits.
const RATIO: u128 = 0xfe9e_115c_7b8f_884c;

/// `2^(-i/128)` in 30 fraction bits.
pub static POWERS: [u32; SEGMENTS + 1] = powers();

/// The table, computed.
pub const fn powers() -> [u32; SEGMENTS + 1] {
    let mut table = [1 << POWER_FRACTION; SEGMENTS + 1];
    let mut exact: u128 = 1 << 64;
    let mut i = 1;
    while i <= SEGMENTS {
        exact = ((exact >> 1) * (RATIO >> 1)) >> 62;
        table[i] = ((exact + (1 << 33)) >> 34) as u32;
        i += 1;
    }
    table
}

/// `2^(-exponent)`; the exponent in 16 fraction bits, the result in 30, at most 1.0. The
/// relative error is below 2^-17 while the result is above 2^-13, the absolute below 2^-30 after.
pub fn exp2_negative(exponent: u32) -> u32 {
    // Beyond 30 bits nothing is left of any power.
    let whole = (exponent >> EXPONENT_FRACTION).min(POWER_FRACTION + 1);
    let fraction = exponent & ((1 << EXPONENT_FRACTION) - 1);
    let segment = (fraction >> WITHIN_BITS) as usize;
    let within = fraction & ((1 << WITHIN_BITS) - 1);
    let [high, low] = [POWERS[segment], POWERS[segment + 1]];
    let drop = ((high - low) * within) >> WITHIN_BITS;
    (high - drop) >> whole
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn table_is_within_half_a_unit_of_f64() {
        for (i, &power) in POWERS.iter().enumerate() {
            let exact = (-(i as f64) / SEGMENTS as f64).exp2() * f64::from(1u32 << POWER_FRACTION);
            assert!((f64::from(power) - exact).abs() <= 0.5 + 1e-6, "{i}: {power} {exact}");
        }
    }

    #[test]
    fn result_is_close_and_falls() {
        let one = f64::from(1u32 << POWER_FRACTION);
        let mut previous = u32::MAX;
        for exponent in (0..32 << EXPONENT_FRACTION).step_by(37) {
            let power = exp2_negative(exponent);
            let exact = (-f64::from(exponent) / f64::from(1u32 << EXPONENT_FRACTION)).exp2() * one;
            let error = (f64::from(power) - exact).abs();
            assert!(error <= exact * (-17f64).exp2() + 1.0, "{exponent}: {power} {exact}");
            assert!(power <= previous);
            previous = power;
        }
        assert_eq!(exp2_negative(0), 1 << POWER_FRACTION);
        assert_eq!(exp2_negative(u32::MAX), 0);
    }
}
