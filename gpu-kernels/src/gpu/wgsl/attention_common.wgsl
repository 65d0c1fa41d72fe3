// What attention's kernels share. Rows attend within groups: the 64 squares of a position, or the
// positions of a sequence, and then only to themselves and those before (CAUSAL).
//
// A workgroup takes 64 rows, not of one group where groups are shorter, and one head; an
// invocation takes one row, and goes through the rows of its own that pass by in tiles of KEYS.
// qkv [rows, 3 HEADS HEAD], y and dy [rows, HEADS HEAD], log_sum and delta [rows, HEADS].

const WIDTH: u32 = HEADS * HEAD;

var<workgroup> tile_a: array<f32, KEYS * HEAD>;
var<workgroup> tile_b: array<f32, KEYS * HEAD>;

fn all_rows() -> u32 {
    return ROWS * run.positions;
}

fn group_size() -> u32 {
    if CAUSAL { return run.length; }
    return 64u;
}

// The keys that a query sees: from x up to, but not including, y.
fn keys_of(query: u32) -> vec2<u32> {
    let begin = query / group_size() * group_size();
    return vec2<u32>(begin, select(begin + group_size(), query + 1u, CAUSAL));
}

// The queries that see a key.
fn queries_of(key: u32) -> vec2<u32> {
    let begin = key / group_size() * group_size();
    return vec2<u32>(select(begin, key, CAUSAL), begin + group_size());
}

// What an invocation takes. Beyond the last row it takes that row again, and is idle.
struct Place {
    head: u32,
    row: u32,
    idle: bool,
    // The first and the last row of the workgroup.
    first: u32,
    last: u32,
}

fn place_of(index: u32, local: u32) -> Place {
    let first = index / HEADS * 64u;
    let last = min(first + 63u, all_rows() - 1u);
    return Place(index % HEADS, min(first + local, last), first + local > last, first, last);
}

fn is_beyond(index: u32) -> bool {
    return index >= (all_rows() + 63u) / 64u * HEADS;
}

// Where a head's part of a row begins: its query, key (1) or value (2); its output.
fn qkv_at(row: u32, head: u32, part: u32) -> u32 {
    return row * QKV_PITCH + QKV_COLUMN + part * WIDTH + head * HEAD;
}

fn y_at(row: u32, head: u32) -> u32 {
    return row * WIDTH + head * HEAD;
}

// Brings a tile of keys and values from row `tile` on.
fn load_keys(tile: u32, head: u32, local: u32) {
    workgroupBarrier();
    for (var i = local; i < KEYS * HEAD; i += 64u) {
        let row = min(tile + i / HEAD, all_rows() - 1u);
        tile_a[i] = f32(qkv[qkv_at(row, head, 1u) + i % HEAD]);
        tile_b[i] = f32(qkv[qkv_at(row, head, 2u) + i % HEAD]);
    }
    workgroupBarrier();
}
