// partial[group] = sum of the squares of a share of x; GROUPS workgroups share LEN elements.

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = folded(group);
    if index >= GROUPS { return; }
    var part = 0.0;
    for (var i = index * 256u + local; i < LEN; i += GROUPS * 256u) { part += x[i] * x[i]; }
    let sum = sum256(local, part);
    if local == 0u { partial[FIRST + index] = sum; }
}
