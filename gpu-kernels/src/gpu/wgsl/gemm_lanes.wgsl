// A tile by one subgroup of LANES invocations, without workgroup memory. An invocation makes
// ROWS rows of COLUMNS columns. Of a it loads one block of 4 along k for the whole subgroup, and
// the blocks go round; its columns of b are its own.

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(subgroup_invocation_id) lane: u32) {
    let part = part_of(folded(group));
    if part.split >= SPLITS { return; }
    let n = part.n + 4u * lane;
    each w in ROW_VECTORS, s in 4, v in COLUMN_VECTORS: var r{w}_{s}_{v} = vec4<f32>();
    for (var k = part.k; k < part.k_end; k += 4u * LANES) {
        each w in ROW_VECTORS: let own{w} = a_block(part, part.m + {w}u * 4u, k + 4u * lane);
        let blocks = min((part.k_end - k + 3u) / 4u, LANES);
        for (var i = 0u; i < blocks; i++) {
            each v in COLUMN_VECTORS: let b{v} = b_block(part, n + {v}u * 4u * LANES, k + 4u * i);
            each q in 4, w in ROW_VECTORS: let a{q}_{w} = subgroupShuffle(own{w}[{q}], i);
            each q in 4, w in ROW_VECTORS, s in 4, v in COLUMN_VECTORS: r{w}_{s}_{v} += a{q}_{w}[{s}] * b{v}[{q}];
        }
    }
    each w in ROW_VECTORS, s in 4, v in COLUMN_VECTORS: store(part, part.m + {w}u * 4u + {s}u, n + {v}u * 4u * LANES, r{w}_{s}_{v});
}
