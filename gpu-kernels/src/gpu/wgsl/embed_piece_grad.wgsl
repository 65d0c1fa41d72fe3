// partial[split, token, d] = sum of dy[row, d] over the split's rows with that token. Each
// invocation has a column of its own, in workgroup memory because a token chooses the element.

var<workgroup> sums: array<f32, TOKENS * 64u>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let blocks = (WIDTH + 63u) / 64u;
    let index = folded(group);
    let split = index / blocks;
    let d = index % blocks * 64u + local;
    if split >= SPLITS || d >= WIDTH { return; }
    for (var token = 0u; token < TOKENS; token++) { sums[token * 64u + local] = 0.0; }
    let rows = SQUARES * run.positions;
    let share = (rows + SPLITS - 1u) / SPLITS;
    for (var row = split * share; row < min((split + 1u) * share, rows); row++) {
        let token = tokens[row / 4u] >> (row % 4u * 8u) & 0xffu;
        sums[token * 64u + local] += f32(dy[row * WIDTH + d]);
    }
    for (var token = 0u; token < TOKENS; token++) {
        partial[(split * TOKENS + token) * WIDTH + d] = sums[token * 64u + local];
    }
}
