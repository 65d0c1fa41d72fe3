// What attention's kernels share. Rows attend within groups: the SQUARES of a position, or the
// positions of a sequence, and then only to themselves and those before (CAUSAL).
//
// A workgroup takes BLOCK rows, not of one group where groups are shorter, and one head; an
// invocation takes one row, and goes through the rows that any of them sees in tiles of KEYS.
// Of two matrices it sees row i of the tile as the vectors a0(i), a1(i), … and b0(i), b1(i), …:
// `attention_memory.wgsl` and `attention_lanes.wgsl` share them, each in its own way, and {LOCAL}
// is the number of an invocation that goes with it.
// qkv [rows, 3 HEADS HEAD], y and dy [rows, HEADS HEAD], log_sum and delta [rows, HEADS].

const WIDTH: u32 = HEADS * HEAD;

fn all_rows() -> u32 {
    return ROWS * run.positions;
}

fn group_size() -> u32 {
    if CAUSAL { return run.length; }
    return SQUARES;
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
    let first = index / HEADS * BLOCK;
    let last = min(first + BLOCK - 1u, all_rows() - 1u);
    return Place(index % HEADS, min(first + local, last), first + local > last, first, last);
}

fn is_beyond(index: u32) -> bool {
    return index >= (all_rows() + BLOCK - 1u) / BLOCK * HEADS;
}

// Whether a row is among those from x up to, but not including, y.
fn is_within(row: u32, range: vec2<u32>) -> bool {
    return row >= range.x && row < range.y;
}

// Vector v of a head's query, key (1) or value (2) of a row; of dy, which is as wide as y.
fn qkv_vector(row: u32, head: u32, part: u32, v: u32) -> vec4<f32> {
    let column = part * WIDTH + head * HEAD;
    return qkv_row(row, column + 4u * v, all_rows(), column + HEAD);
}

fn add_up(x: vec4<f32>) -> f32 {
    return dot(x, vec4<f32>(1.0));
}
