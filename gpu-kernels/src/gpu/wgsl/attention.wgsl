// y = softmax(q k / sqrt(HEAD) + bias) v; an invocation a query, the softmax running along (Dao
// et al., FlashAttention).

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = folded(group);
    if is_beyond(index) { return; }
    let place = place_of(index, local);
    let head = place.head;
    let seen = keys_of(place.row);
    var query: array<f32, HEAD>;
    var sum: array<f32, HEAD>;
    for (var d = 0u; d < HEAD; d++) {
        query[d] = f32(qkv[qkv_at(place.row, head, 0u) + d]) * SCALE;
        sum[d] = 0.0;
    }
    var most = -3.0e38;
    var total = 0.0;
    let end = keys_of(place.last).y;
    for (var tile = keys_of(place.first).x; tile < end; tile += KEYS) {
        load_keys(tile, head, local);
        for (var key = max(tile, seen.x); key < min(tile + KEYS, seen.y); key++) {
            let at = (key - tile) * HEAD;
            var score = score_bias(head, place.row, key);
            for (var d = 0u; d < HEAD; d++) { score += query[d] * tile_a[at + d]; }
            if score > most {
                let shrink = exp(most - score);
                total *= shrink;
                for (var d = 0u; d < HEAD; d++) { sum[d] *= shrink; }
                most = score;
            }
            let p = exp(score - most);
            total += p;
            for (var d = 0u; d < HEAD; d++) { sum[d] += p * tile_b[at + d]; }
        }
    }
    if place.idle { return; }
    let out = y_at(place.row, head);
    for (var d = 0u; d < HEAD; d++) { y[out + d] = y_element(sum[d] / total); }
    log_sum[place.row * HEADS + head] = most + log(total);
}
