// y[i] += sum over the SPLITS parts of x[part, i], i below LEN.

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    if i >= LEN { return; }
    var sum = 0.0;
    for (var part = 0u; part < SPLITS; part++) { sum += x[part * LEN + i]; }
    y[i] += sum;
}
