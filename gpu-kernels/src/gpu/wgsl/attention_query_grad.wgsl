// dq = sum over keys of ds k / sqrt(HEAD), with ds = p (dy v - delta) and delta = dy y, which it
// keeps for the kernels that come after; an invocation a query.

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = folded(group);
    if is_beyond(index) { return; }
    let place = place_of(index, local);
    let head = place.head;
    let seen = keys_of(place.row);
    let out = y_at(place.row, head);
    let own = qkv_at(place.row, head, 0u);
    var query: array<f32, HEAD>;
    var slope: array<f32, HEAD>;
    var sum: array<f32, HEAD>;
    var share = 0.0;
    for (var d = 0u; d < HEAD; d++) {
        query[d] = f32(qkv[own + d]) * SCALE;
        slope[d] = f32(dy[out + d]);
        sum[d] = 0.0;
        share += slope[d] * f32(y[out + d]);
    }
    let normal = log_sum[place.row * HEADS + head];
    let end = keys_of(place.last).y;
    for (var tile = keys_of(place.first).x; tile < end; tile += KEYS) {
        load_keys(tile, head, local);
        for (var key = max(tile, seen.x); key < min(tile + KEYS, seen.y); key++) {
            let at = (key - tile) * HEAD;
            var score = score_bias(head, place.row, key);
            var dp = 0.0;
            for (var d = 0u; d < HEAD; d++) {
                score += query[d] * tile_a[at + d];
                dp += slope[d] * tile_b[at + d];
            }
            let ds = exp(score - normal) * (dp - share);
            for (var d = 0u; d < HEAD; d++) { sum[d] += ds * tile_a[at + d]; }
        }
    }
    if place.idle { return; }
    for (var d = 0u; d < HEAD; d++) {
        var value = sum[d] * SCALE;
        if QKV_ADDS { value += f32(dqkv[own + d]); }
        dqkv[own + d] = dqkv_element(value);
    }
    delta[place.row * HEADS + head] = share;
}
