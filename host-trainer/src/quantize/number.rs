//! From real factors to integers.
use kibitzer_core::net::infer::Shift;

/// A section of a shift and the multipliers that share it: `factors[i] ≈ multiplier / 2^shift`,
/// the largest multiplier having 30 or 31 bits.
///
/// # Panics
/// If a factor is negative, not finite, or 2^29 or more.
pub fn scale(factors: &[f64]) -> Vec<i32> {
    let most = factors.iter().copied().fold(0.0, f64::max);
    assert!(factors.iter().all(|f| *f >= 0.0) && most < (29f64).exp2(), "factor {most}");
    let exponent = if most > 0.0 { most.log2().floor() as i32 } else { 0 };
    let shift = (30 - exponent).clamp(1, i32::from(Shift::MOST));
    let multiplier =
        |factor: f64| (factor * f64::from(shift).exp2()).round().min(f64::from(i32::MAX)) as i32;
    std::iter::once(shift).chain(factors.iter().map(|&f| multiplier(f))).collect()
}

/// A section of a single factor.
pub fn scale_one(factor: f64) -> Vec<i32> {
    scale(&[factor])
}

/// `value` in whole `unit`s, saturated.
pub fn word(value: f64, unit: f64) -> i32 {
    (value / unit).round().clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i32
}

/// `value` in whole `unit`s, saturated to ±32,767.
pub fn half(value: f64, unit: f64) -> i16 {
    let limit = f64::from(i16::MAX);
    (value / unit).round().clamp(-limit, limit) as i16
}

/// `value` in whole `unit`s, saturated to ±127.
pub fn byte(value: f64, unit: f64) -> i8 {
    (value / unit).round().clamp(-127.0, 127.0) as i8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multipliers_keep_thirty_bits() {
        for factors in [vec![1.0, 0.3, 0.0], vec![1e-9, 3e-10], vec![5e8, 1.0], vec![0.0]] {
            let section = scale(&factors);
            let unit = (-f64::from(section[0])).exp2();
            let most = factors.iter().copied().fold(0.0, f64::max);
            for (&multiplier, factor) in section[1..].iter().zip(&factors) {
                let error = (f64::from(multiplier) * unit - factor).abs();
                assert!(error <= most * (-29f64).exp2(), "{factor}");
            }
        }
    }
}
