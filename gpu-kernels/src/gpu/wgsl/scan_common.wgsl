// What the scan's kernels share; an invocation carries the states h of one channel c along its
// sequence. `rates` is the logarithm of the decay rates, [WIDTH, STATES], and after it the skip
// connection, [WIDTH].

fn softplus(x: f32) -> f32 {
    let e = exp(-abs(x));
    // log(1 + e) by its series where 1 + e would round e away.
    let log1p = select(log(1.0 + e), e * (1.0 - 0.5 * e), e < 1e-3);
    return max(x, 0.0) + log1p;
}

fn u_at(n: u32, c: u32) -> f32 {
    return f32(u[n * U_PITCH + U_COLUMN + c]);
}

fn step_at(n: u32, c: u32) -> f32 {
    return f32(step_size[n * STEP_SIZE_PITCH + STEP_SIZE_COLUMN + c]);
}

// B and C of a state.
fn b_at(n: u32, s: u32) -> f32 {
    return f32(bc[n * BC_PITCH + BC_COLUMN + s]);
}

fn c_at(n: u32, s: u32) -> f32 {
    return f32(bc[n * BC_PITCH + BC_COLUMN + STATES + s]);
}

fn skip_at(c: u32) -> f32 {
    return rates[WIDTH * STATES + c];
}

// The decay rates of a channel. Sequences of one position start and end with no state.
fn decay_of(c: u32) -> array<f32, STATES> {
    var decay: array<f32, STATES>;
    if run.length > 1u {
        for (var s = 0u; s < STATES; s++) { decay[s] = -exp(rates[c * STATES + s]); }
    }
    return decay;
}
