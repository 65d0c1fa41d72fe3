// partial[split, head, query, key] = sum over the split's positions of ds = p (dy v - delta).
// A workgroup takes one query of one head, an invocation one key.

@group(0) @binding(1) var<storage, read> qkv: array<f32>;
@group(0) @binding(2) var<storage, read> log_sum: array<f32>;
@group(0) @binding(3) var<storage, read> dy: array<f32>;
@group(0) @binding(4) var<storage, read> delta: array<f32>;
@group(0) @binding(5) var<storage, read_write> partial: array<f32>;

const WIDTH: u32 = HEADS * HEAD;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = folded(group);
    let split = index / (HEADS * 64u);
    if split >= SPLITS { return; }
    let head = index / 64u % HEADS;
    let query = index % 64u;
    let column = QKV_COLUMN + head * HEAD;
    let share = (run.positions + SPLITS - 1u) / SPLITS;
    var sum = 0.0;
    for (var n = split * share; n < min((split + 1u) * share, run.positions); n++) {
        let row = n * 64u + query;
        let q = row * QKV_PITCH + column;
        let k = (n * 64u + local) * QKV_PITCH + column + WIDTH;
        let out = row * WIDTH + head * HEAD;
        var score = 0.0;
        var dp = 0.0;
        for (var d = 0u; d < HEAD; d++) {
            score += qkv[q + d] * qkv[k + d];
            dp += dy[out + d] * qkv[k + WIDTH + d];
        }
        score = score * SCALE + score_bias(head, query, local);
        let at = row * HEADS + head;
        sum += exp(score - log_sum[at]) * (dp - delta[at]);
    }
    partial[index * 64u + local] = sum;
}
