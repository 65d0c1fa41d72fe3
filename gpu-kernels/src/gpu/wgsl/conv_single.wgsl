// Depthwise convolution over a sequence of one position, then SiLU: only the last tap counts.
// y = silu(b + w[last] x).

@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
@group(0) @binding(3) var<storage, read> b: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    let n = i / WIDTH;
    let c = i % WIDTH;
    if n >= run.positions { return; }
    y[i] = silu(b[c] + w[c * TAPS + TAPS - 1u] * x[n * X_PITCH + X_COLUMN + c]);
}
