// Attention over the 64 squares of a position: y = softmax(q k / sqrt(HEAD) + bias) v. A
// workgroup takes one head of one position, an invocation one query; keys and values pass by in
// tiles of KEYS, the softmax running along (Dao et al., FlashAttention).
// qkv [N 64, 3 HEADS HEAD], y [N 64, HEADS HEAD], log_sum [N 64, HEADS].

@group(0) @binding(1) var<storage, read> qkv: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> log_sum: array<f32>;

const WIDTH: u32 = HEADS * HEAD;

var<workgroup> keys: array<f32, KEYS * HEAD>;
var<workgroup> values: array<f32, KEYS * HEAD>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = folded(group);
    if index >= run.positions * HEADS { return; }
    let head = index % HEADS;
    let first = index / HEADS * 64u;
    let row = first + local;
    let column = QKV_COLUMN + head * HEAD;
    var query: array<f32, HEAD>;
    var sum: array<f32, HEAD>;
    for (var d = 0u; d < HEAD; d++) {
        query[d] = qkv[row * QKV_PITCH + column + d] * SCALE;
        sum[d] = 0.0;
    }
    var most = -3.0e38;
    var total = 0.0;
    for (var tile = 0u; tile < 64u; tile += KEYS) {
        workgroupBarrier();
        for (var i = local; i < KEYS * HEAD; i += 64u) {
            let at = (first + tile + i / HEAD) * QKV_PITCH + column + i % HEAD;
            keys[i] = qkv[at + WIDTH];
            values[i] = qkv[at + 2u * WIDTH];
        }
        workgroupBarrier();
        for (var j = 0u; j < KEYS; j++) {
            var score = score_bias(head, local, tile + j);
            for (var d = 0u; d < HEAD; d++) { score += query[d] * keys[j * HEAD + d]; }
            if score > most {
                let shrink = exp(most - score);
                total *= shrink;
                for (var d = 0u; d < HEAD; d++) { sum[d] *= shrink; }
                most = score;
            }
            let p = exp(score - most);
            total += p;
            for (var d = 0u; d < HEAD; d++) { sum[d] += p * values[j * HEAD + d]; }
        }
    }
    for (var d = 0u; d < HEAD; d++) { y[row * WIDTH + head * HEAD + d] = sum[d] / total; }
    log_sum[row * HEADS + head] = most + log(total);
}
