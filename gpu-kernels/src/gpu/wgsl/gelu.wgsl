// The normal distribution function by erfc's approximation 7.1.26 of Abramowitz and Stegun,
// off by at most 1e-7.
fn normal(x: f32) -> f32 {
    let a = abs(x) * 0.70710678;
    let t = 1.0 / (1.0 + 0.3275911 * a);
    let poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741
        + t * (-1.453152027 + t * 1.061405429))));
    let tail = 0.5 * poly * exp(-a * a);
    return select(tail, 1.0 - tail, x > 0.0);
}

fn f(x: f32) -> f32 {
    return x * normal(x);
}

fn slope(x: f32) -> f32 {
    return normal(x) + x * 0.39894228 * exp(-0.5 * x * x);
}
