// A tile by way of workgroup memory, in slices of SLICE along k. An invocation makes ROWS rows
// and COLUMNS columns of the tile, four neighbours at a time; of each slice it loads one block of
// 4 x 4, of a or of b, and holds it while the slice before is worked on.

const SLICE_BLOCKS: u32 = SLICE / 4u;
const A_BLOCKS: u32 = TILE_M / 4u * SLICE_BLOCKS;
const B_BLOCKS: u32 = TILE_N / 4u * SLICE_BLOCKS;
// Vectors of a slice at one k, and one of padding against bank conflicts.
const A_STEP: u32 = TILE_M / 4u + 1u;
const B_STEP: u32 = TILE_N / 4u + 1u;
const B_FIRST: u32 = SLICE * A_STEP;
// Invocations along m and along n.
const ACROSS_M: u32 = TILE_M / ROWS;
const ACROSS_N: u32 = TILE_N / COLUMNS;

var<workgroup> slice: array<vec4<f32>, B_FIRST + SLICE * B_STEP>;

@compute @workgroup_size(TILE_M / ROWS * TILE_N / COLUMNS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let part = part_of(folded(group));
    if part.split >= SPLITS { return; }

    // The block to load: neighbouring invocations take neighbours in memory.
    let for_a = local < A_BLOCKS;
    let for_b = !for_a && local < A_BLOCKS + B_BLOCKS;
    let block = select(local - A_BLOCKS, local, for_a);
    let tile_blocks = select(TILE_N / 4u, TILE_M / 4u, for_a);
    let along_k = select(B_TRANSPOSED, !A_TRANSPOSED, for_a);
    let block_k = select(block / tile_blocks, block % SLICE_BLOCKS, along_k);
    let block_mn = select(block % tile_blocks, block / SLICE_BLOCKS, along_k);
    let step = select(B_STEP, A_STEP, for_a);
    let to = select(B_FIRST, 0u, for_a) + 4u * block_k * step + block_mn;
    let load_m = part.m + 4u * block_mn;
    let load_n = part.n + 4u * block_mn;

    let row = local / ACROSS_N;
    let column = local % ACROSS_N;
    each w in ROW_VECTORS, s in 4, v in COLUMN_VECTORS: var r{w}_{s}_{v} = vec4<f32>();
    var next = mat4x4<f32>();
    if for_a { next = a_block(part, load_m, part.k + 4u * block_k); }
    if for_b { next = b_block(part, load_n, part.k + 4u * block_k); }
    for (var k = part.k; k < part.k_end; k += SLICE) {
        workgroupBarrier();
        if for_a || for_b {
            slice[to] = next[0];
            slice[to + step] = next[1];
            slice[to + 2u * step] = next[2];
            slice[to + 3u * step] = next[3];
        }
        workgroupBarrier();
        if for_a { next = a_block(part, load_m, k + SLICE + 4u * block_k); }
        if for_b { next = b_block(part, load_n, k + SLICE + 4u * block_k); }
        for (var i = 0u; i < SLICE; i++) {
            each w in ROW_VECTORS: let a{w} = slice[i * A_STEP + {w}u * ACROSS_M + row];
            each v in COLUMN_VECTORS: let b{v} = slice[B_FIRST + i * B_STEP + {v}u * ACROSS_N + column];
            each w in ROW_VECTORS, s in 4, v in COLUMN_VECTORS: r{w}_{s}_{v} += a{w}[{s}] * b{v};
        }
    }
    let m = part.m + 4u * row;
    let n = part.n + 4u * column;
    each w in ROW_VECTORS, s in 4, v in COLUMN_VECTORS: store(part, m + {w}u * 4u * ACROSS_M + {s}u, n + {v}u * 4u * ACROSS_N, r{w}_{s}_{v});
}
