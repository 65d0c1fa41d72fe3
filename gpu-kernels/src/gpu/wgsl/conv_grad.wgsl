// dx[n] (+)= sum over taps k of w[k] da[n + (TAPS - 1) - k], within the position's sequence.
fn element(i: u32, n: u32, c: u32) {
    var sum = 0.0;
    for (var ahead = 0u; ahead <= min(run.length - 1u - n % run.length, TAPS - 1u); ahead++) {
        sum += w[c * TAPS + TAPS - 1u - ahead] * f32(da[i + ahead * WIDTH]);
    }
    let at = n * X_PITCH + X_COLUMN + c;
    if X_ADDS { sum += f32(dx[at]); }
    dx[at] = dx_element(sum);
}
