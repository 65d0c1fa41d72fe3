// With dg = dy silu(z): du (+)= dg (D (B C) + skip), dstep (+)= dg u (B C) sigma(step).

@group(0) @binding(6) var<storage, read> dy: array<f32>;
@group(0) @binding(7) var<storage, read_write> du: array<f32>;
@group(0) @binding(8) var<storage, read_write> dstep: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    let n = i / WIDTH;
    let c = i % WIDTH;
    if n >= run.positions { return; }
    let dg = dy[i] * silu(z_at(n, c));
    var for_u = dg * gain_at(n, c);
    let u_index = n * U_PITCH + U_COLUMN + c;
    if U_ADDS { for_u += du[u_index]; }
    du[u_index] = for_u;
    var for_step = dg * u_at(n, c) * bc_at(n) * sigmoid(rate_at(n, c));
    let step_index = n * STEP_PITCH + STEP_COLUMN + c;
    if STEP_ADDS { for_step += dstep[step_index]; }
    dstep[step_index] = for_step;
}
