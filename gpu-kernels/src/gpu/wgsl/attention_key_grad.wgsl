// dv = sum over queries of p dy, dk = sum over queries of ds q / sqrt(HEAD), with
// ds = p (dy v - delta); an invocation a key.

// Brings a tile of queries and of their dy from row `tile` on.
fn load_queries(tile: u32, head: u32, local: u32) {
    workgroupBarrier();
    for (var i = local; i < KEYS * HEAD; i += 64u) {
        let row = min(tile + i / HEAD, all_rows() - 1u);
        tile_a[i] = f32(qkv[qkv_at(row, head, 0u) + i % HEAD]) * SCALE;
        tile_b[i] = f32(dy[y_at(row, head) + i % HEAD]);
    }
    workgroupBarrier();
}

fn add(at: u32, value: f32) {
    var sum = value;
    if QKV_ADDS { sum += f32(dqkv[at]); }
    dqkv[at] = dqkv_element(sum);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = folded(group);
    if is_beyond(index) { return; }
    let place = place_of(index, local);
    let head = place.head;
    let seen = queries_of(place.row);
    let own_key = qkv_at(place.row, head, 1u);
    let own_value = qkv_at(place.row, head, 2u);
    var key: array<f32, HEAD>;
    var value: array<f32, HEAD>;
    var dk: array<f32, HEAD>;
    var dv: array<f32, HEAD>;
    for (var d = 0u; d < HEAD; d++) {
        key[d] = f32(qkv[own_key + d]);
        value[d] = f32(qkv[own_value + d]);
        dk[d] = 0.0;
        dv[d] = 0.0;
    }
    let end = queries_of(place.last).y;
    for (var tile = queries_of(place.first).x; tile < end; tile += KEYS) {
        load_queries(tile, head, local);
        for (var query = max(tile, seen.x); query < min(tile + KEYS, seen.y); query++) {
            let at = (query - tile) * HEAD;
            var score = score_bias(head, query, place.row);
            var dp = 0.0;
            for (var d = 0u; d < HEAD; d++) {
                score += tile_a[at + d] * key[d];
                dp += tile_b[at + d] * value[d];
            }
            let p = exp(score - log_sum[query * HEADS + head]);
            let ds = p * (dp - delta[query * HEADS + head]);
            for (var d = 0u; d < HEAD; d++) {
                dk[d] += ds * tile_a[at + d];
                dv[d] += p * tile_b[at + d];
            }
        }
    }
    if place.idle { return; }
    for (var d = 0u; d < HEAD; d++) {
        add(own_key + d, dk[d]);
        add(own_value + d, dv[d]);
    }
}
