// c[m, n] (+)= sum over k of a[m, k] b[k, n] (+ bias[n]) (+ residual[m, n]), each of a and b
// stored straight or transposed. With SPLITS above 1 each split sums its own share of k into its
// own [M, N] of c.
//
// M, N, K are the sizes; that of m or of k counts once a position where M_SCALES or K_SCALES.
// A_TRANSPOSED: a is stored [K, M]. B_TRANSPOSED: b is stored [N, K]. A workgroup makes TILE_M
// rows and TILE_N columns, TILE_M and TILE_N being multiples of 4.

// A workgroup's share of the work.
struct Part {
    split: u32,
    // First row and column of the tile, and where the rows end.
    m: u32,
    n: u32,
    m_end: u32,
    // The share of k.
    k: u32,
    k_end: u32,
}

// Of one more workgroup than there are tiles, `split` is SPLITS or more.
fn part_of(index: u32) -> Part {
    let m_end = select(M, M * run.positions, M_SCALES);
    let k_all = select(K, K * run.positions, K_SCALES);
    let tiles_n = (N + TILE_N - 1u) / TILE_N;
    let tiles = (m_end + TILE_M - 1u) / TILE_M * tiles_n;
    let split = index / tiles;
    let tile = index % tiles;
    // A multiple of 64, so that a share starts where a vector does.
    let share = (k_all + 64u * SPLITS - 1u) / (64u * SPLITS) * 64u;
    let k = min(split * share, k_all);
    let m = tile / tiles_n * TILE_M;
    return Part(split, m, tile % tiles_n * TILE_N, m_end, k, min(k + share, k_all));
}

// Four neighbours along m of a at each of four k: [i] is that at k + i. Zero beyond the edges.
fn a_block(part: Part, m: u32, k: u32) -> mat4x4<f32> {
    if A_TRANSPOSED {
        return mat4x4<f32>(
            a_row(k, m, part.k_end, part.m_end),
            a_row(k + 1u, m, part.k_end, part.m_end),
            a_row(k + 2u, m, part.k_end, part.m_end),
            a_row(k + 3u, m, part.k_end, part.m_end),
        );
    }
    return transpose(mat4x4<f32>(
        a_row(m, k, part.m_end, part.k_end),
        a_row(m + 1u, k, part.m_end, part.k_end),
        a_row(m + 2u, k, part.m_end, part.k_end),
        a_row(m + 3u, k, part.m_end, part.k_end),
    ));
}

// Four neighbours along n of b at each of four k: [i] is that at k + i. Zero beyond the edges.
fn b_block(part: Part, n: u32, k: u32) -> mat4x4<f32> {
    if B_TRANSPOSED {
        return transpose(mat4x4<f32>(
            b_row(n, k, N, part.k_end),
            b_row(n + 1u, k, N, part.k_end),
            b_row(n + 2u, k, N, part.k_end),
            b_row(n + 3u, k, N, part.k_end),
        ));
    }
    return mat4x4<f32>(
        b_row(k, n, part.k_end, N),
        b_row(k + 1u, n, part.k_end, N),
        b_row(k + 2u, n, part.k_end, N),
        b_row(k + 3u, n, part.k_end, N),
    );
}
