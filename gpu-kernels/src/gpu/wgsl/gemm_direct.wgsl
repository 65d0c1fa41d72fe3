// A tile by LANES invocations side by side, straight from memory: for adapters where workgroup
// memory is no faster. An invocation makes ROWS rows of COLUMNS columns.

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let part = part_of(folded(group));
    if part.split >= SPLITS { return; }
    let n = part.n + 4u * lane;
    each w in ROW_VECTORS, s in 4, v in COLUMN_VECTORS: var r{w}_{s}_{v} = vec4<f32>();
    for (var k = part.k; k < part.k_end; k += 4u) {
        each w in ROW_VECTORS: let a{w} = a_block(part, part.m + {w}u * 4u, k);
        each v in COLUMN_VECTORS: let b{v} = b_block(part, n + {v}u * 4u * LANES, k);
        each q in 4, w in ROW_VECTORS, s in 4, v in COLUMN_VECTORS: r{w}_{s}_{v} += a{w}[{q}][{s}] * b{v}[{q}];
    }
    each w in ROW_VECTORS, s in 4, v in COLUMN_VECTORS: store(part, part.m + {w}u * 4u + {s}u, n + {v}u * 4u * LANES, r{w}_{s}_{v});
}
