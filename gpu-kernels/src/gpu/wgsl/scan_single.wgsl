// y = g silu(z).

@group(0) @binding(6) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    let n = i / WIDTH;
    let c = i % WIDTH;
    if n >= run.positions { return; }
    y[i] = gain_at(n, c) * u_at(n, c) * silu(z_at(n, c));
}
