// y = softmax(q k / sqrt(HEAD) + bias) v; an invocation a query, the softmax running along (Dao
// et al., FlashAttention).

@compute @workgroup_size(BLOCK)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin({LOCAL}) local: u32) {
    let index = folded(group);
    if is_beyond(index) { return; }
    let place = place_of(index, local);
    let head = place.head;
    let seen = keys_of(place.row);
    each v in VECTORS: let query{v} = qkv_vector(place.row, head, 0u, {v}u) * SCALE;
    each v in VECTORS: var sum{v} = vec4<f32>();
    var most = -3.0e38;
    var total = 0.0;
    let end = keys_of(place.last).y;
    for (var tile = keys_of(place.first).x; tile < end; tile += KEYS) {
        bring(tile, head, local);
        for (var i = 0u; i < min(KEYS, end - tile); i++) {
            let key = tile + i;
            var products = vec4<f32>();
            each v in VECTORS: products += query{v} * a{v}(i);
            let is_seen = is_within(key, seen);
            let score = select(-3.0e38, add_up(products) + score_bias(head, place.row, key), is_seen);
            let now = max(most, score);
            let shrink = exp(most - now);
            let p = select(0.0, exp(score - now), is_seen);
            most = now;
            total = total * shrink + p;
            each v in VECTORS: sum{v} = sum{v} * shrink + p * b{v}(i);
        }
    }
    if place.idle { return; }
    let column = head * HEAD;
    each v in VECTORS: store_y(place.row, column + {v}u * 4u, column + HEAD, sum{v} / total);
    log_sum[place.row * HEADS + head] = most + log(total);
}
