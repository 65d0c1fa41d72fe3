// dv = sum over queries of p dy, dk = sum over queries of ds q / sqrt(HEAD), with
// ds = p (dy v - delta). A workgroup takes one head of one position, an invocation one key;
// queries and their dy pass by in tiles of KEYS.

@group(0) @binding(1) var<storage, read> qkv: array<f32>;
@group(0) @binding(2) var<storage, read> log_sum: array<f32>;
@group(0) @binding(3) var<storage, read> dy: array<f32>;
@group(0) @binding(4) var<storage, read> delta: array<f32>;
@group(0) @binding(5) var<storage, read_write> dqkv: array<f32>;

const WIDTH: u32 = HEADS * HEAD;

var<workgroup> queries: array<f32, KEYS * HEAD>;
var<workgroup> slopes: array<f32, KEYS * HEAD>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = folded(group);
    if index >= run.positions * HEADS { return; }
    let head = index % HEADS;
    let first = index / HEADS * 64u;
    let column = QKV_COLUMN + head * HEAD;
    let own = (first + local) * QKV_PITCH + column;
    var key: array<f32, HEAD>;
    var value: array<f32, HEAD>;
    var dk: array<f32, HEAD>;
    var dv: array<f32, HEAD>;
    for (var d = 0u; d < HEAD; d++) {
        key[d] = qkv[own + WIDTH + d];
        value[d] = qkv[own + 2u * WIDTH + d];
        dk[d] = 0.0;
        dv[d] = 0.0;
    }
    for (var tile = 0u; tile < 64u; tile += KEYS) {
        workgroupBarrier();
        for (var i = local; i < KEYS * HEAD; i += 64u) {
            let row = first + tile + i / HEAD;
            queries[i] = qkv[row * QKV_PITCH + column + i % HEAD] * SCALE;
            slopes[i] = dy[row * WIDTH + head * HEAD + i % HEAD];
        }
        workgroupBarrier();
        for (var j = 0u; j < KEYS; j++) {
            let at = (first + tile + j) * HEADS + head;
            var score = score_bias(head, tile + j, local);
            var dp = 0.0;
            for (var d = 0u; d < HEAD; d++) {
                score += queries[j * HEAD + d] * key[d];
                dp += slopes[j * HEAD + d] * value[d];
            }
            let p = exp(score - log_sum[at]);
            let ds = p * (dp - delta[at]);
            for (var d = 0u; d < HEAD; d++) {
                dk[d] += ds * queries[j * HEAD + d];
                dv[d] += p * slopes[j * HEAD + d];
            }
        }
    }
    for (var d = 0u; d < HEAD; d++) {
        var new_k = dk[d];
        var new_v = dv[d];
        if QKV_ADDS {
            new_k += dqkv[own + WIDTH + d];
            new_v += dqkv[own + 2u * WIDTH + d];
        }
        dqkv[own + WIDTH + d] = new_k;
        dqkv[own + 2u * WIDTH + d] = new_v;
    }
}
