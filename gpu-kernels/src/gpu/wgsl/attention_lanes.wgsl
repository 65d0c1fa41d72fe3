// A tile in the registers of one subgroup, a row an invocation; no more rows than invocations.

each v in VECTORS: var<private> own_a{v}: vec4<f32>;
each v in VECTORS: var<private> own_b{v}: vec4<f32>;

each v in VECTORS: fn a{v}(i: u32) -> vec4<f32> { return subgroupShuffle(own_a{v}, i); }
each v in VECTORS: fn b{v}(i: u32) -> vec4<f32> { return subgroupShuffle(own_b{v}, i); }

// Brings a tile from row `tile` on.
fn bring(tile: u32, head: u32, local: u32) {
    let row = min(tile + local, all_rows() - 1u);
    each v in VECTORS: own_a{v} = first(row, head, {v}u);
    each v in VECTORS: own_b{v} = second(row, head, {v}u);
}
