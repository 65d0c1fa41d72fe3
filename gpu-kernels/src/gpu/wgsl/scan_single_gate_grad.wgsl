// dz (+)= dy g silu'(z).

@group(0) @binding(6) var<storage, read> dy: array<f32>;
@group(0) @binding(7) var<storage, read_write> dz: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    let n = i / WIDTH;
    let c = i % WIDTH;
    if n >= run.positions { return; }
    var value = dy[i] * gain_at(n, c) * u_at(n, c) * silu_slope(z_at(n, c));
    let at = n * Z_PITCH + Z_COLUMN + c;
    if Z_ADDS { value += dz[at]; }
    dz[at] = value;
}
