//! Non-linear functions by table, with linear interpolation.
//!
//! SiLU, GELU and softplus all satisfy `f(x) = max(x, 0) + f(-|x|)`, so that only the small
//! remainder `f(-t)`, t ≥ 0, is tabulated. It vanishes beyond the table's end at t = 16.
use super::linear::Sums;
use crate::net::kbz::{Curve, Halves};

/// Points of each table, both ends included.
pub const CURVE_POINTS: usize = 513;
/// Fraction bits of the tables' entries.
pub const CURVE_FRACTION: u32 = 15;
/// Points a unit of the argument: 1/32 apart for the remainders, 1/64 for tanh.
pub const fn points_per_unit(curve: Curve) -> u32 {
    match curve {
        Curve::Silu | Curve::Gelu | Curve::Softplus => 32,
        Curve::Tanh => 64,
    }
}

/// Fraction bits of pre-activations and of everything gated.
pub const ACTIVATION_FRACTION: u32 = 12;
/// Pre-activations are brought into ±128.
pub const ACTIVATION_LIMIT: i32 = 128 << ACTIVATION_FRACTION;
/// Fraction bits of tanh's argument.
pub const TANH_FRACTION: u32 = 16;
/// Fraction bits of the value.
pub const VALUE_FRACTION: u32 = CURVE_FRACTION;

/// Bits by which a pre-activation is finer than a table's index, and an interpolated entry finer
/// than a pre-activation.
pub const fn units(curve: Curve) -> (u32, u32) {
    let fraction = ACTIVATION_FRACTION - points_per_unit(curve).ilog2();
    (fraction, CURVE_FRACTION + fraction - ACTIVATION_FRACTION)
}

/// The tables of a model file.
#[derive(Debug, Clone, Copy)]
pub struct Curves<'a>([Halves<'a>; Curve::ALL.len()]);

impl<'a> Curves<'a> {
    /// Tables in the order of [`Curve::ALL`].
    pub const fn new(tables: [Halves<'a>; Curve::ALL.len()]) -> Curves<'a> {
        Curves(tables)
    }

    /// Interpolation, exact: the table at `t`, which has `fraction` bits (at most 10) more than
    /// the table's index, in [`CURVE_FRACTION`] plus `fraction` bits; `None` past the end.
    fn interpolate(&self, curve: Curve, t: u32, fraction: u32) -> Option<i32> {
        let [a, b] = self.0[curve as usize].pair((t >> fraction) as usize)?.map(i32::from);
        let within = (t & ((1 << fraction) - 1)) as i32;
        Some((a << fraction) + (b - a) * within)
    }

    fn gated(&self, curve: Curve, x: i32) -> i32 {
        let (fraction, shift) = units(curve);
        let remainder = self.interpolate(curve, x.unsigned_abs(), fraction);
        x.max(0) + remainder.map_or(0, |exact| (exact + (1 << (shift - 1))) >> shift)
    }

    /// `x · sigmoid(x)`; argument and result in [`ACTIVATION_FRACTION`] bits, the argument
    /// within [`ACTIVATION_LIMIT`].
    pub fn silu(&self, x: i32) -> i32 {
        self.gated(Curve::Silu, x)
    }

    /// `silu(x) · 2^left` of each of `sums`, rescaled into [`ACTIVATION_LIMIT`].
    pub fn silu_of(&self, sums: &mut Sums<'_>, left: u32, ys: &mut [i32]) {
        #[cfg(kernels = "x86")]
        if let Some((sums, rescaling)) = sums.rescaling() {
            let table = self.0[Curve::Silu as usize].bytes();
            let (units, limit) = (units(Curve::Silu), ACTIVATION_LIMIT);
            if super::kernel::silu(table, units, limit, sums, &rescaling, left, ys) {
                return;
            }
        }
        #[cfg(kernels = "dsp")]
        {
            let (sums, rescaling) = sums.within_or_rescaled(ACTIVATION_LIMIT);
            super::kernel::silu(self.0[Curve::Silu as usize].bytes(), sums, &rescaling, left, ys);
        }
        #[cfg(not(kernels = "dsp"))]
        self.silu_each(sums.within(ACTIVATION_LIMIT), left, ys);
    }

    /// `silu(x) · 2^left` of each of `xs`.
    #[cfg(not(kernels = "dsp"))]
    pub fn silu_each(&self, xs: &[i32], left: u32, ys: &mut [i32]) {
        #[cfg(kernels = "x86")]
        let (xs, ys) = {
            let (fraction, shift) = units(Curve::Silu);
            let table = self.0[Curve::Silu as usize].bytes();
            let done = super::kernel::gated(table, [fraction, shift, left], xs, ys);
            (&xs[done..], &mut ys[done..])
        };
        for (&x, y) in xs.iter().zip(ys) {
            *y = self.silu(x) << left;
        }
    }

    /// `x · Φ(x)`, in the same units.
    pub fn gelu(&self, x: i32) -> i32 {
        self.gated(Curve::Gelu, x)
    }

    /// `ln(1 + e^x)`, in the same units.
    pub fn softplus(&self, x: i32) -> i32 {
        self.gated(Curve::Softplus, x)
    }

    /// `tanh(x)`; the argument in [`TANH_FRACTION`] bits, the result in [`VALUE_FRACTION`], of
    /// magnitude at most 32,767.
    pub fn tanh(&self, x: i32) -> i16 {
        let fraction = TANH_FRACTION - points_per_unit(Curve::Tanh).ilog2();
        let magnitude = self
            .interpolate(Curve::Tanh, x.unsigned_abs(), fraction)
            .map_or(i32::from(i16::MAX), |exact| (exact + (1 << (fraction - 1))) >> fraction);
        let magnitude = magnitude.clamp(0, i16::MAX.into()) as i16;
        if x < 0 { -magnitude } else { magnitude }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    /// The function in double precision, for negative and positive arguments.
    fn exact(curve: Curve, x: f64) -> f64 {
        match curve {
            Curve::Silu => x / (1.0 + (-x).exp()),
            Curve::Gelu => x * 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2),
            Curve::Softplus => x.max(0.0) + (-x.abs()).exp().ln_1p(),
            Curve::Tanh => x.tanh(),
        }
    }

    fn table(curve: Curve) -> Vec<[u8; 2]> {
        let sign = if curve == Curve::Tanh { 1.0 } else { -1.0 };
        let point = |i: usize| {
            let x = sign * i as f64 / f64::from(points_per_unit(curve));
            let scaled = exact(curve, x) * f64::from(1 << CURVE_FRACTION);
            (scaled.round().min(f64::from(i16::MAX)) as i16).to_le_bytes()
        };
        (0..CURVE_POINTS).map(point).collect()
    }

    #[test]
    fn functions_are_within_a_unit_of_f64() {
        let tables = Curve::ALL.map(table);
        let curves = Curves::new([0, 1, 2, 3].map(|i| Halves::of(tables[i].as_flattened())));
        let one = f64::from(1 << ACTIVATION_FRACTION);
        for x in (-ACTIVATION_LIMIT..=ACTIVATION_LIMIT).step_by(13) {
            for (curve, y) in [
                (Curve::Silu, curves.silu(x)),
                (Curve::Gelu, curves.gelu(x)),
                (Curve::Softplus, curves.softplus(x)),
            ] {
                let exact = exact(curve, f64::from(x) / one) * one;
                assert!((f64::from(y) - exact).abs() < 1.0, "{curve:?}({x}): {y} {exact}");
            }
        }
        let one = f64::from(1 << TANH_FRACTION);
        for x in (-(10 << TANH_FRACTION)..10 << TANH_FRACTION).step_by(101) {
            let y = f64::from(curves.tanh(x));
            let exact = (f64::from(x) / one).tanh() * f64::from(1 << VALUE_FRACTION);
            assert!((y - exact).abs() < 2.0, "tanh({x}): {y} {exact}");
        }
        for x in [i32::MIN, -i32::MAX, i32::MAX] {
            assert_eq!(i32::from(curves.tanh(x)), x.signum() * 32_767);
        }
    }
}
