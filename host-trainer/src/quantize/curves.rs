//! The tables of the non-linear functions, in double precision, rounded once.
use kibitzer_core::net::{
    infer::{CURVE_FRACTION, CURVE_POINTS, points_per_unit},
    kbz::Curve,
};

use super::number::half;

/// What the table holds at `t` ≥ 0: tanh itself, of the others `f(-t)`.
pub fn tabulated(curve: Curve, t: f64) -> f64 {
    match curve {
        Curve::Silu => -t / (1.0 + t.exp()),
        Curve::Gelu => -t * 0.5 * libm::erfc(t / std::f64::consts::SQRT_2),
        Curve::Softplus => (-t).exp().ln_1p(),
        Curve::Tanh => t.tanh(),
    }
}

/// The points of a curve, as the model file holds them.
pub fn table(curve: Curve) -> Vec<i16> {
    let unit = (-f64::from(CURVE_FRACTION)).exp2();
    let step = 1.0 / f64::from(points_per_unit(curve));
    (0..CURVE_POINTS).map(|i| half(tabulated(curve, i as f64 * step), unit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The functions by other formulas than [`tabulated`]'s.
    fn independent(curve: Curve, x: f64) -> f64 {
        match curve {
            Curve::Silu => x * (x / 2.0).tanh().mul_add(0.5, 0.5),
            // Simpson's rule over the density from 0 to x.
            Curve::Gelu => {
                let density = |t: f64| (-t * t / 2.0).exp() / std::f64::consts::TAU.sqrt();
                let step = x / 2000.0;
                let weight = |i: i32| if i == 0 || i == 2000 { 1 } else { 2 + i % 2 * 2 };
                let terms = (0..=2000).map(|i| f64::from(weight(i)) * density(f64::from(i) * step));
                x * (0.5 + terms.sum::<f64>() * step / 3.0)
            }
            Curve::Softplus => (1.0 + x.exp()).ln(),
            Curve::Tanh => 1.0 - 2.0 / ((2.0 * x).exp() + 1.0),
        }
    }

    #[test]
    fn tables_are_within_half_a_unit_of_the_functions() {
        for curve in Curve::ALL {
            let sign = if curve == Curve::Tanh { 1.0 } else { -1.0 };
            for (i, point) in table(curve).into_iter().enumerate() {
                let t = i as f64 / f64::from(points_per_unit(curve));
                let exact = independent(curve, sign * t) * f64::from(1 << CURVE_FRACTION);
                let saturated = exact.min(f64::from(i16::MAX));
                let error = (f64::from(point) - saturated).abs();
                assert!(error <= 0.5 + 1e-4, "{curve:?} at {t}: {point} {exact}");
            }
        }
    }
}
