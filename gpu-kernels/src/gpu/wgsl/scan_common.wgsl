// What the scan's kernels read in common: with one position a sequence the state starts from
// zero, so that the decay drops out and g = D u (B C) + skip u with D = softplus(step).

@group(0) @binding(1) var<storage, read> u: array<f32>;
@group(0) @binding(2) var<storage, read> rate: array<f32>;
@group(0) @binding(3) var<storage, read> bc: array<f32>;
@group(0) @binding(4) var<storage, read> z: array<f32>;
@group(0) @binding(5) var<storage, read> skip: array<f32>;

fn softplus(x: f32) -> f32 {
    let e = exp(-abs(x));
    // log(1 + e) by its series where 1 + e would round e away.
    let log1p = select(log(1.0 + e), e * (1.0 - 0.5 * e), e < 1e-3);
    return max(x, 0.0) + log1p;
}

fn u_at(n: u32, c: u32) -> f32 {
    return u[n * U_PITCH + U_COLUMN + c];
}

fn rate_at(n: u32, c: u32) -> f32 {
    return rate[n * STEP_PITCH + STEP_COLUMN + c];
}

fn z_at(n: u32, c: u32) -> f32 {
    return z[n * Z_PITCH + Z_COLUMN + c];
}

// B C of a position.
fn bc_at(n: u32) -> f32 {
    let base = n * BC_PITCH + BC_COLUMN;
    var sum = 0.0;
    for (var s = 0u; s < STATES; s++) { sum += bc[base + s] * bc[base + STATES + s]; }
    return sum;
}

// g over u.
fn gain_at(n: u32, c: u32) -> f32 {
    return softplus(rate_at(n, c)) * bc_at(n) + skip[c];
}
