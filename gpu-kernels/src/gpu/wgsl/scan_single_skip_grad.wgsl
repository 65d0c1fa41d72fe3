// dskip += sum over positions of dy silu(z) u.

@group(0) @binding(6) var<storage, read> dy: array<f32>;
@group(0) @binding(7) var<storage, read_write> dskip: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let c = folded(group) * 64u + local;
    if c >= WIDTH { return; }
    var sum = 0.0;
    for (var n = 0u; n < run.positions; n++) {
        sum += dy[n * WIDTH + c] * silu(z_at(n, c)) * u_at(n, c);
    }
    dskip[c] += sum;
}
