// Cross-entropy of the policy and squared error of the value of each position, side by side in
// `losses`, and their gradients as means over the batch, times the scale; a workgroup a position.
// `targets` holds the probabilities of the entries, and from VALUES_AT on the positions' values.

var<workgroup> mosts: array<f32, 64>;

// The largest over the workgroup, the same for all invocations.
fn max64(local: u32, value: f32) -> f32 {
    mosts[local] = value;
    workgroupBarrier();
    for (var half = 32u; half > 0u; half /= 2u) {
        if local < half { mosts[local] = max(mosts[local], mosts[local + half]); }
        workgroupBarrier();
    }
    return mosts[0];
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let n = folded(group);
    if n >= run.positions { return; }
    let scale = run.mean * control.loss_scale;
    let begin = offsets[n] + local;
    let end = offsets[n + 1u];
    var most = -3.0e38;
    for (var e = begin; e < end; e += 64u) { most = max(most, f32(logits[e])); }
    most = max64(local, most);
    var part = 0.0;
    for (var e = begin; e < end; e += 64u) { part += exp(f32(logits[e]) - most); }
    let total = sum_all(local, part);
    let normal = most + log(total);
    var entropy = 0.0;
    for (var e = begin; e < end; e += 64u) {
        let log_p = f32(logits[e]) - normal;
        entropy -= targets[e] * log_p;
        dlogits[e] = dlogits_element((exp(log_p) - targets[e]) * scale);
    }
    let policy = sum_all(local, entropy);
    if local == 0u {
        let error = f32(values[n]) - targets[VALUES_AT + n];
        dvalues[n] = dvalues_element(2.0 * run.value_weight * error * scale);
        losses[2u * n] = policy;
        losses[2u * n + 1u] = error * error;
    }
}
