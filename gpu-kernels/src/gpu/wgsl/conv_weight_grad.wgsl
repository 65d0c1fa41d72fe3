// dw[c, k] = sum over positions n of da[n, c] x[n - (TAPS - 1) + k, c], within their sequences.
fn term(n: u32, i: u32) -> f32 {
    let c = i / TAPS;
    let back = TAPS - 1u - i % TAPS;
    if n % run.length < back { return 0.0; }
    return f32(da[n * (WIDTH / TAPS) + c]) * f32(x[(n - back) * X_PITCH + X_COLUMN + c]);
}
