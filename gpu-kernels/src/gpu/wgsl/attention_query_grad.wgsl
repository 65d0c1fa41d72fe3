// dq = sum over keys of ds k / sqrt(HEAD), with ds = p (dy v - delta) and delta = dy y, which it
// keeps for the kernels that come after. A workgroup takes one head of one position, an
// invocation one query.

@group(0) @binding(1) var<storage, read> qkv: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read> log_sum: array<f32>;
@group(0) @binding(4) var<storage, read> dy: array<f32>;
@group(0) @binding(5) var<storage, read_write> dqkv: array<f32>;
@group(0) @binding(6) var<storage, read_write> delta: array<f32>;

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
    var slope: array<f32, HEAD>;
    var sum: array<f32, HEAD>;
    var own = 0.0;
    for (var d = 0u; d < HEAD; d++) {
        let at = row * WIDTH + head * HEAD + d;
        query[d] = qkv[row * QKV_PITCH + column + d] * SCALE;
        slope[d] = dy[at];
        sum[d] = 0.0;
        own += dy[at] * y[at];
    }
    let normal = log_sum[row * HEADS + head];
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
            var dp = 0.0;
            for (var d = 0u; d < HEAD; d++) {
                score += query[d] * keys[j * HEAD + d];
                dp += slope[d] * values[j * HEAD + d];
            }
            let ds = exp(score - normal) * (dp - own);
            for (var d = 0u; d < HEAD; d++) { sum[d] += ds * keys[j * HEAD + d]; }
        }
    }
    for (var d = 0u; d < HEAD; d++) {
        let at = row * QKV_PITCH + column + d;
        var value = sum[d] * SCALE;
        if QKV_ADDS { value += dqkv[at]; }
        dqkv[at] = value;
    }
    delta[row * HEADS + head] = own;
}
