// dw[last] += sum over positions of da x, db += sum of da, with da = dy silu'(b + w[last] x).

@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
@group(0) @binding(3) var<storage, read> b: array<f32>;
@group(0) @binding(4) var<storage, read> dy: array<f32>;
@group(0) @binding(5) var<storage, read_write> dw: array<f32>;
@group(0) @binding(6) var<storage, read_write> db: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let c = folded(group) * 64u + local;
    if c >= WIDTH { return; }
    let last = c * TAPS + TAPS - 1u;
    var weight = 0.0;
    var bias = 0.0;
    for (var n = 0u; n < run.positions; n++) {
        let value = x[n * X_PITCH + X_COLUMN + c];
        let da = dy[n * WIDTH + c] * silu_slope(b[c] + w[last] * value);
        weight += da * value;
        bias += da;
    }
    dw[last] += weight;
    db[c] += bias;
}
