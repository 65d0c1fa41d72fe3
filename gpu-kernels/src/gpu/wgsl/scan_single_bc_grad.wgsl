// With s = sum over channels of dy silu(z) D u: dB (+)= s C, dC (+)= s B; a workgroup a position.

@group(0) @binding(6) var<storage, read> dy: array<f32>;
@group(0) @binding(7) var<storage, read_write> dbc: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let n = folded(group);
    if n >= run.positions { return; }
    var part = 0.0;
    for (var c = local; c < WIDTH; c += 64u) {
        part += dy[n * WIDTH + c] * silu(z_at(n, c)) * softplus(rate_at(n, c)) * u_at(n, c);
    }
    let sum = sum64(local, part);
    let base = n * BC_PITCH + BC_COLUMN;
    for (var s = local; s < 2u * STATES; s += 64u) {
        var value = sum * bc[base + (s + STATES) % (2u * STATES)];
        if BC_ADDS { value += dbc[base + s]; }
        dbc[base + s] = value;
    }
}
