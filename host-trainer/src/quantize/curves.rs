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
