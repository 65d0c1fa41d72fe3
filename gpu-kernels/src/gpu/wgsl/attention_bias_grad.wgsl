// partial[split, head, query, key] = sum over the split's positions of ds = p (dy v - delta).
// A workgroup takes BLOCK queries and KEYS keys of one head, an invocation one of the queries.

@compute @workgroup_size(BLOCK)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin({LOCAL}) local: u32) {
    let tiles = SQUARES / KEYS;
    let index = folded(group);
    let block = index / tiles;
    let split = block / (HEADS * SQUARES / BLOCK);
    if split >= SPLITS { return; }
    let head = block % (HEADS * SQUARES / BLOCK) / (SQUARES / BLOCK);
    let query = block % (SQUARES / BLOCK) * BLOCK + local;
    let key = index % tiles * KEYS;
    let column = head * HEAD;
    let share = (run.positions + SPLITS - 1u) / SPLITS;
    each i in KEYS: let bias{i} = score_bias(head, query, key + {i}u);
    each i in KEYS: var sum{i} = 0.0;
    for (var n = split * share; n < min((split + 1u) * share, run.positions); n++) {
        let row = n * SQUARES + query;
        let at = row * HEADS + head;
        let normal = log_sum[at];
        let shift = delta[at];
        each v in VECTORS: let query{v} = qkv_vector(row, head, 0u, {v}u) * SCALE;
        each v in VECTORS: let slope{v} = dy_row(row, column + {v}u * 4u, all_rows(), column + HEAD);
        bring(n * SQUARES + key, head, local);
        each i in KEYS: var products{i} = vec4<f32>();
        each i in KEYS: var slopes{i} = vec4<f32>();
        each v in VECTORS, i in KEYS: products{i} += query{v} * a{v}({i}u);
        each v in VECTORS, i in KEYS: slopes{i} += slope{v} * b{v}({i}u);
        each i in KEYS: sum{i} += exp(add_up(products{i}) + bias{i} - normal) * (add_up(slopes{i}) - shift);
    }
    let to = ((split * HEADS + head) * SQUARES + query) * SQUARES + key;
    each i in KEYS: partial[to + {i}u] = sum{i};
}
