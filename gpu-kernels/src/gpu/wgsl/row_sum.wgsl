// y[split, c] = sum over the split's share of rows of term(row, c), c below WIDTH; ROWS rows a
// position. Without splits it adds to y.

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let blocks = (WIDTH + 63u) / 64u;
    let index = folded(group);
    let split = index / blocks;
    let c = index % blocks * 64u + local;
    if split >= SPLITS || c >= WIDTH { return; }
    let rows = ROWS * run.positions;
    let share = (rows + SPLITS - 1u) / SPLITS;
    var sum = 0.0;
    for (var row = split * share; row < min((split + 1u) * share, rows); row++) {
        sum += term(row, c);
    }
    if SPLITS == 1u { sum += y[c]; }
    y[split * WIDTH + c] = sum;
}
