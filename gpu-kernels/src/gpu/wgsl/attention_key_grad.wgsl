// dv = sum over queries of p dy, dk = sum over queries of ds q / sqrt(HEAD), with
// ds = p (dy v - delta); an invocation a key.

// The rows that pass by are queries and their dy.
fn first(row: u32, head: u32, v: u32) -> vec4<f32> {
    return qkv_vector(row, head, 0u, v) * SCALE;
}

fn second(row: u32, head: u32, v: u32) -> vec4<f32> {
    return dy_row(row, head * HEAD + 4u * v, all_rows(), head * HEAD + HEAD);
}

@compute @workgroup_size(BLOCK)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin({LOCAL}) local: u32) {
    let index = folded(group);
    if is_beyond(index) { return; }
    let place = place_of(index, local);
    let head = place.head;
    let seen = queries_of(place.row);
    each v in VECTORS: let key{v} = qkv_vector(place.row, head, 1u, {v}u);
    each v in VECTORS: let value{v} = qkv_vector(place.row, head, 2u, {v}u);
    each v in VECTORS: var dk{v} = vec4<f32>();
    each v in VECTORS: var dv{v} = vec4<f32>();
    let end = queries_of(place.last).y;
    for (var tile = queries_of(place.first).x; tile < end; tile += KEYS) {
        bring(tile, head, local);
        for (var i = 0u; i < min(KEYS, end - tile); i++) {
            let query = tile + i;
            var products = vec4<f32>();
            var slopes = vec4<f32>();
            each v in VECTORS: products += key{v} * a{v}(i);
            each v in VECTORS: slopes += value{v} * b{v}(i);
            let score = add_up(products) + score_bias(head, query, place.row);
            let at = query * HEADS + head;
            let p = select(0.0, exp(score - log_sum[at]), is_within(query, seen));
            let ds = p * (add_up(slopes) - delta[at]);
            each v in VECTORS: dk{v} += ds * a{v}(i);
            each v in VECTORS: dv{v} += p * b{v}(i);
        }
    }
    if place.idle { return; }
    let column = WIDTH + head * HEAD;
    each v in VECTORS: store_dqkv(place.row, column + {v}u * 4u, column + HEAD, dk{v});
    each v in VECTORS: store_dqkv(place.row, column + WIDTH + {v}u * 4u, column + WIDTH + HEAD, dv{v});
}
