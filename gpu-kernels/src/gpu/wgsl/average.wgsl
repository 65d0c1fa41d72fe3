// average += weight · (parameters − average), for LEN parameters.

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    if i >= LEN { return; }
    let a = average[i];
    average[i] = a + run.average_weight * (parameters[i] - a);
}
