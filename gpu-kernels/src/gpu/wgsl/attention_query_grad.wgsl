// dq = sum over keys of ds k / sqrt(HEAD), with ds = p (dy v - delta) and delta = dy y, which it
// keeps for the kernels that come after; an invocation a query.

@compute @workgroup_size(BLOCK)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin({LOCAL}) local: u32) {
    let index = folded(group);
    if is_beyond(index) { return; }
    let place = place_of(index, local);
    let head = place.head;
    let seen = keys_of(place.row);
    let column = head * HEAD;
    each v in VECTORS: let query{v} = qkv_vector(place.row, head, 0u, {v}u) * SCALE;
    each v in VECTORS: let slope{v} = dy_row(place.row, column + {v}u * 4u, all_rows(), column + HEAD);
    each v in VECTORS: var sum{v} = vec4<f32>();
    var share = 0.0;
    each v in VECTORS: share += dot(slope{v}, y_row(place.row, column + {v}u * 4u, all_rows(), column + HEAD));
    let normal = log_sum[place.row * HEADS + head];
    let end = keys_of(place.last).y;
    for (var tile = keys_of(place.first).x; tile < end; tile += KEYS) {
        bring(tile, head, local);
        for (var i = 0u; i < min(KEYS, end - tile); i++) {
            let key = tile + i;
            var products = vec4<f32>();
            var slopes = vec4<f32>();
            each v in VECTORS: products += query{v} * a{v}(i);
            each v in VECTORS: slopes += slope{v} * b{v}(i);
            let score = add_up(products) + score_bias(head, place.row, key);
            let p = select(0.0, exp(score - normal), is_within(key, seen));
            let ds = p * (add_up(slopes) - share);
            each v in VECTORS: sum{v} += ds * a{v}(i);
        }
    }
    if place.idle { return; }
    each v in VECTORS: store_dqkv(place.row, column + {v}u * 4u, column + HEAD, sum{v} * SCALE);
    delta[place.row * HEADS + head] = share;
}
