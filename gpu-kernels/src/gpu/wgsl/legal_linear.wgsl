// y[e] = x[n] W[index] + b[index]; a workgroup a legal entry.

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let e = folded(group);
    if e >= run.entries { return; }
    let index = index_of(entries[e]);
    let base = entries[e].position * X_PITCH + X_COLUMN;
    var part = 0.0;
    for (var d = local; d < WIDTH; d += 64u) { part += f32(x[base + d]) * w[index * WIDTH + d]; }
    let sum = sum_all(local, part);
    if local == 0u { y[e] = y_element(sum + b[index]); }
}
