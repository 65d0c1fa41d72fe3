// Cross-entropy of the policy and squared error of the value of each position, side by side in
// `losses`, and their gradients as means over the batch; a workgroup a position.

@group(0) @binding(1) var<storage, read> offsets: array<u32>;
@group(0) @binding(2) var<storage, read> logits: array<f32>;
@group(0) @binding(3) var<storage, read> wanted: array<f32>;
@group(0) @binding(4) var<storage, read> values: array<f32>;
@group(0) @binding(5) var<storage, read> outcomes: array<f32>;
@group(0) @binding(6) var<storage, read_write> dlogits: array<f32>;
@group(0) @binding(7) var<storage, read_write> dvalues: array<f32>;
@group(0) @binding(8) var<storage, read_write> losses: array<f32>;

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
    let begin = offsets[n] + local;
    let end = offsets[n + 1u];
    var most = -3.0e38;
    for (var e = begin; e < end; e += 64u) { most = max(most, logits[e]); }
    most = max64(local, most);
    var part = 0.0;
    for (var e = begin; e < end; e += 64u) { part += exp(logits[e] - most); }
    let total = sum64(local, part);
    let normal = most + log(total);
    var entropy = 0.0;
    for (var e = begin; e < end; e += 64u) {
        let log_p = logits[e] - normal;
        entropy -= wanted[e] * log_p;
        dlogits[e] = (exp(log_p) - wanted[e]) * run.mean;
    }
    let policy = sum64(local, entropy);
    if local == 0u {
        let error = values[n] - outcomes[n];
        dvalues[n] = 2.0 * run.value_weight * error * run.mean;
        losses[2u * n] = policy;
        losses[2u * n + 1u] = error * error;
    }
}
