// y[n, s, d] = x[n, s, d] + c[n, d].

@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> c: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    let row = i / WIDTH;
    if row >= run.positions * SQUARES { return; }
    y[i] = x[i] + c[row / SQUARES * C_PITCH + C_COLUMN + i % WIDTH];
}
