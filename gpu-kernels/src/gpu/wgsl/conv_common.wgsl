// a[n, c] = b[c] + sum over taps k of w[c, k] x[n - (TAPS - 1) + k, c] of the convolution, within
// the position's sequence.
fn preactivation(n: u32, c: u32) -> f32 {
    var sum = b[c];
    for (var back = 0u; back <= min(n % run.length, TAPS - 1u); back++) {
        let at = (n - back) * X_PITCH + X_COLUMN + c;
        sum += w[c * TAPS + TAPS - 1u - back] * f32(x[at]);
    }
    return sum;
}
