// c[m, n] (+)= sum over k of a[m, k] b[k, n] (+ bias[n]) (+ residual[m, n]), each of a and b
// stored straight or transposed. A workgroup makes a tile of 64 x 64, each of its 16 x 16
// invocations 4 x 4 of it, and takes k in slices of 16. With SPLITS above 1 each split sums its
// own share of k into its own [M, N] of c.
//
// M, N, K are the sizes; that of m or of k counts once a position where M_SCALES or K_SCALES.
// A_TRANSPOSED: a is stored [K, M]. B_TRANSPOSED: b is stored [N, K].

const TILE: u32 = 64u;
const SLICE: u32 = 16u;
// Sixteen vectors of four rows, and one of padding against bank conflicts.
const PITCH: u32 = 17u;

var<workgroup> tile_a: array<vec4<f32>, SLICE * PITCH>;
var<workgroup> tile_b: array<vec4<f32>, SLICE * PITCH>;

// Four neighbours along m of a, at k; zero beyond the edges.
fn load_a(m: u32, k: u32, m_end: u32, k_end: u32) -> vec4<f32> {
    var v = vec4<f32>();
    if k < k_end {
        let stride = select(A_PITCH, 1u, A_TRANSPOSED);
        let at = A_COLUMN + select(m * A_PITCH + k, k * A_PITCH + m, A_TRANSPOSED);
        if m < m_end { v.x = f32(a[at]); }
        if m + 1u < m_end { v.y = f32(a[at + stride]); }
        if m + 2u < m_end { v.z = f32(a[at + 2u * stride]); }
        if m + 3u < m_end { v.w = f32(a[at + 3u * stride]); }
    }
    return v;
}

// Four neighbours along n of b, at k; zero beyond the edges.
fn load_b(n: u32, k: u32, k_end: u32) -> vec4<f32> {
    var v = vec4<f32>();
    if k < k_end {
        let stride = select(1u, B_PITCH, B_TRANSPOSED);
        let at = B_COLUMN + select(k * B_PITCH + n, n * B_PITCH + k, B_TRANSPOSED);
        if n < N { v.x = f32(b[at]); }
        if n + 1u < N { v.y = f32(b[at + stride]); }
        if n + 2u < N { v.z = f32(b[at + 2u * stride]); }
        if n + 3u < N { v.w = f32(b[at + 3u * stride]); }
    }
    return v;
}

fn store(split: u32, m: u32, n: u32, m_end: u32, values: vec4<f32>) {
    if m >= m_end { return; }
    let row = (split * m_end + m) * C_PITCH + C_COLUMN;
    var rest = values;
    for (var i = n; i < min(n + 4u, N); i++) {
        var value = rest.x + bias_at(i) + residual_at(m, i);
        if C_ADDS { value += f32(c[row + i]); }
        c[row + i] = c_element(value);
        rest = rest.yzwx;
    }
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let m_end = select(M, M * run.positions, M_SCALES);
    let k_all = select(K, K * run.positions, K_SCALES);
    let tiles_n = (N + TILE - 1u) / TILE;
    let tiles = (m_end + TILE - 1u) / TILE * tiles_n;
    let index = folded(group);
    if index >= tiles * SPLITS { return; }
    let split = index / tiles;
    let tile = index % tiles;
    let share = (k_all + SLICE * SPLITS - 1u) / (SLICE * SPLITS) * SLICE;
    let k_begin = split * share;
    let k_end = min(k_begin + share, k_all);
    let m0 = tile / tiles_n * TILE;
    let n0 = tile % tiles_n * TILE;

    // The vector of a slice that this invocation loads: neighbours in order are neighbours in
    // memory, however the matrix is stored.
    let slow = local / 16u;
    let fast = local % 16u;
    let a_k = select(fast, slow, A_TRANSPOSED);
    let a_m = select(slow, fast, A_TRANSPOSED);
    let b_k = select(slow, fast, B_TRANSPOSED);
    let b_n = select(fast, slow, B_TRANSPOSED);

    var r0 = vec4<f32>();
    var r1 = vec4<f32>();
    var r2 = vec4<f32>();
    var r3 = vec4<f32>();
    for (var k = k_begin; k < k_end; k += SLICE) {
        tile_a[a_k * PITCH + a_m] = load_a(m0 + 4u * a_m, k + a_k, m_end, k_end);
        tile_b[b_k * PITCH + b_n] = load_b(n0 + 4u * b_n, k + b_k, k_end);
        workgroupBarrier();
        for (var i = 0u; i < SLICE; i++) {
            let va = tile_a[i * PITCH + slow];
            let vb = tile_b[i * PITCH + fast];
            r0 += va.x * vb;
            r1 += va.y * vb;
            r2 += va.z * vb;
            r3 += va.w * vb;
        }
        workgroupBarrier();
    }
    let m = m0 + 4u * slow;
    let n = n0 + 4u * fast;
    store(split, m, n, m_end, r0);
    store(split, m + 1u, n, m_end, r1);
    store(split, m + 2u, n, m_end, r2);
    store(split, m + 3u, n, m_end, r3);
}
