// partial[split, head, query, key] = sum over the split's positions of ds = p (dy v - delta).
// A workgroup takes one query of one head, an invocation one key.

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = folded(group);
    let split = index / (HEADS * 64u);
    if split >= SPLITS { return; }
    let head = index / 64u % HEADS;
    let query = index % 64u;
    let share = (run.positions + SPLITS - 1u) / SPLITS;
    var sum = 0.0;
    for (var n = split * share; n < min((split + 1u) * share, run.positions); n++) {
        let row = n * 64u + query;
        let q = qkv_at(row, head, 0u);
        let k = qkv_at(n * 64u + local, head, 1u);
        let v = qkv_at(n * 64u + local, head, 2u);
        let out = y_at(row, head);
        var score = 0.0;
        var dp = 0.0;
        for (var d = 0u; d < HEAD; d++) {
            score += f32(qkv[q + d]) * f32(qkv[k + d]);
            dp += f32(dy[out + d]) * f32(qkv[v + d]);
        }
        score = score * SCALE + score_bias(head, query, local);
        let at = row * HEADS + head;
        sum += exp(score - log_sum[at]) * (dp - delta[at]);
    }
    partial[index * 64u + local] = sum;
}
