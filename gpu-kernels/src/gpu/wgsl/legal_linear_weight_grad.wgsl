// dW[index] += sum over the entries of that index of dy[e] x[n], db[index] += sum of dy[e].
// `by_index` lists the entries by index, those of one index from `starts[index]` on.

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    let index = i / WIDTH;
    let d = i % WIDTH;
    if index >= MOVES { return; }
    var weight = 0.0;
    var bias = 0.0;
    for (var k = starts[index]; k < starts[index + 1u]; k++) {
        let e = by_index[k];
        weight += f32(dy[e]) * f32(x[entries[e].position * X_PITCH + X_COLUMN + d]);
        bias += f32(dy[e]);
    }
    dw[i] += weight;
    if d == 0u { db[index] += bias; }
}
