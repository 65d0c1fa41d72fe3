// A step of AdamW on LEN parameters.

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    if i >= LEN || summary.outcome != TAKEN { return; }
    let g = gradient[i] * summary.factor;
    let m = run.beta1 * first[i] + (1.0 - run.beta1) * g;
    let v = run.beta2 * second[i] + (1.0 - run.beta2) * g * g;
    first[i] = m;
    second[i] = v;
    let root = sqrt(v) / summary.root_correction + run.epsilon;
    parameters[i] = parameters[i] * run.keep - summary.step_size * m / root;
}
