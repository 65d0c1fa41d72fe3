// y[n, d] (+)= FACTOR times the sum over squares of x[n, s, d].

@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    let n = i / WIDTH;
    let d = i % WIDTH;
    if n >= run.positions { return; }
    var sum = 0.0;
    for (var s = 0u; s < SQUARES; s++) {
        sum += x[(n * SQUARES + s) * X_PITCH + X_COLUMN + d];
    }
    sum *= FACTOR;
    let at = n * Y_PITCH + Y_COLUMN + d;
    if Y_ADDS { sum += y[at]; }
    y[at] = sum;
}
