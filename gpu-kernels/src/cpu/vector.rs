//! Arithmetic on slices, written so that the compiler turns it into vector instructions: no
//! calls, no branches, sums in sixteen lanes that are added up in a fixed order.
//!
//! [`simd`] compiles its closure once for each instruction set and picks one when it runs. The
//! closure and all that it calls must be `#[inline(always)]`: what is not stays compiled for the
//! oldest processor, several times slower.

/// Lanes of a sum.
const LANES: usize = 16;

/// Runs `work` with the widest vector instructions of this processor.
#[inline]
pub fn simd<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// Sum of `f(a, b)` over two slices of equal length.
#[inline(always)]
fn fold2(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    let (a_lanes, a_rest) = a.as_chunks::<LANES>();
    let (b_lanes, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a_lanes.iter().zip(b_lanes) {
        for i in 0..LANES {
            sums[i] += f(a[i], b[i]);
        }
    }
    let mut total = 0.0;
    for sum in sums {
        total += sum;
    }
    for (&a, &b) in a_rest.iter().zip(b_rest) {
        total += f(a, b);
    }
    total
}

/// Scalar product.
#[inline(always)]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    fold2(a, b, |x, y| x * y)
}

/// `Σ a · b · c`.
#[inline(always)]
pub fn dot3(a: &[f32], b: &[f32], c: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let lanes = a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0);
    for ((a, b), c) in lanes.zip(c.as_chunks::<LANES>().0) {
        for i in 0..LANES {
            sums[i] += a[i] * b[i] * c[i];
        }
    }
    let mut total = 0.0;
    for sum in sums {
        total += sum;
    }
    for i in a.len() / LANES * LANES..a.len() {
        total += a[i] * b[i] * c[i];
    }
    total
}

/// Sum.
#[inline(always)]
pub fn sum(a: &[f32]) -> f32 {
    fold2(a, a, |x, _| x)
}

/// Largest element; −∞ if there is none.
#[inline(always)]
pub fn max(a: &[f32]) -> f32 {
    let (lanes, rest) = a.as_chunks::<LANES>();
    let mut most = [f32::NEG_INFINITY; LANES];
    for a in lanes {
        for i in 0..LANES {
            most[i] = if a[i] > most[i] { a[i] } else { most[i] };
        }
    }
    most.iter().chain(rest).fold(f32::NEG_INFINITY, |m, &x| if x > m { x } else { m })
}

/// `y += a · x`.
#[inline(always)]
pub fn add_scaled(y: &mut [f32], a: f32, x: &[f32]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// `y += x`.
#[inline(always)]
pub fn add(y: &mut [f32], x: &[f32]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += x;
    }
}

/// eˣ, within 2 units in the last place from −87 to 88; clamped beyond.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    /// Adding and subtracting 1.5 · 2²³ rounds to the nearest integer.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts, so that n · ln 2 is exact to twice f32's precision.
    const LN2_HIGH: f32 = 355.0 / 512.0;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    // Taylor's series to the seventh power: |r| is at most ln(2) / 2.
    let mut p = 1.0 / 5040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = p * r + c;
    }
    // The lowest bits of `shifted` are n: moved up they are 2ⁿ's exponent, but for its bias.
    p * f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0f32.to_bits()))
}

/// Natural logarithm of a normal positive number, within a few units in the last place.
#[inline(always)]
fn ln(x: f32) -> f32 {
    let bits = x.to_bits() as i32;
    // Mantissa in [√½, √2): the exponent is that of x / √½.
    let e = (bits - std::f32::consts::FRAC_1_SQRT_2.to_bits() as i32) >> 23;
    let m = f32::from_bits((bits - (e << 23)) as u32);
    // ln m = 2 artanh(s), s = (m − 1) / (m + 1), |s| below 0.172.
    let s = (m - 1.0) / (m + 1.0);
    let q = s * s;
    let mut p = 1.0 / 9.0;
    for c in [1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0] {
        p = p * q + c;
    }
    e as f32 * std::f32::consts::LN_2 + 2.0 * (s + s * q * p)
}

/// `σ(x) = 1 / (1 + e⁻ˣ)`.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// `x σ(x)`.
#[inline(always)]
pub fn silu(x: f32) -> f32 {
    x * sigmoid(x)
}

/// [`silu`] and its derivative.
#[inline(always)]
pub fn silu_slope(x: f32) -> (f32, f32) {
    let s = sigmoid(x);
    (x * s, s * (1.0 + x * (1.0 - s)))
}

/// `ln(1 + eˣ)`, accurate also where it is tiny (Kahan's correction of ln(1 + y)).
#[inline(always)]
pub fn softplus(x: f32) -> f32 {
    let y = exp(x);
    let u = 1.0 + y;
    let corrected = ln(u) * (y / (u - 1.0));
    let small = if u == 1.0 { y } else { corrected };
    if x > 20.0 { x } else { small }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest relative error of `f` against an f64 function.
    fn error(f: fn(f32) -> f32, exact: fn(f64) -> f64, least: f32, most: f32) -> f64 {
        (0..=200_000)
            .map(|i| least + (most - least) * i as f32 / 200_000.0)
            .map(|x| {
                (f64::from(simd(
                    #[inline(always)]
                    || f(x),
                )) / exact(f64::from(x))
                    - 1.0)
                    .abs()
            })
            .fold(0.0, f64::max)
    }

    #[test]
    fn functions_are_as_exact_as_f32_is() {
        assert!(error(exp, f64::exp, -86.9, 87.9) < 2.5e-7);
        assert!(error(softplus, |x| x.exp().ln_1p(), -80.0, 60.0) < 5e-7);
        assert!(error(sigmoid, |x| 1.0 / (1.0 + (-x).exp()), -80.0, 80.0) < 5e-7);
    }

    #[test]
    fn sums_take_every_element() {
        for n in 0..70_usize {
            let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
            assert_eq!(sum(&x), (n * n.saturating_sub(1) / 2) as f32);
            assert_eq!(dot(&x, &x), x.iter().map(|x| x * x).sum::<f32>());
            assert_eq!(max(&x), x.last().copied().unwrap_or(f32::NEG_INFINITY));
        }
    }
}
