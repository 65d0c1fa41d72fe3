// A tile in workgroup memory.

var<workgroup> tile_a: array<vec4<f32>, KEYS * VECTORS>;
var<workgroup> tile_b: array<vec4<f32>, KEYS * VECTORS>;

each v in VECTORS: fn a{v}(i: u32) -> vec4<f32> { return tile_a[i * VECTORS + {v}u]; }
each v in VECTORS: fn b{v}(i: u32) -> vec4<f32> { return tile_b[i * VECTORS + {v}u]; }

// Brings a tile from row `tile` on.
fn bring(tile: u32, head: u32, local: u32) {
    workgroupBarrier();
    for (var i = local; i < KEYS * VECTORS; i += BLOCK) {
        let row = min(tile + i / VECTORS, all_rows() - 1u);
        tile_a[i] = first(row, head, i % VECTORS);
        tile_b[i] = second(row, head, i % VECTORS);
    }
    workgroupBarrier();
}
