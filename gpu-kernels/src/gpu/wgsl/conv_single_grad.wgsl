// dx (+)= w[last] da with da = dy silu'(b + w[last] x).

@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
@group(0) @binding(3) var<storage, read> b: array<f32>;
@group(0) @binding(4) var<storage, read> dy: array<f32>;
@group(0) @binding(5) var<storage, read_write> dx: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    let n = i / WIDTH;
    let c = i % WIDTH;
    if n >= run.positions { return; }
    let tap = w[c * TAPS + TAPS - 1u];
    let at = n * X_PITCH + X_COLUMN + c;
    var value = tap * dy[i] * silu_slope(b[c] + tap * x[at]);
    if X_ADDS { value += dx[at]; }
    dx[at] = value;
}
