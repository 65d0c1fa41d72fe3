// y = x r w with r = 1 / sqrt(mean(x^2) + EPSILON); a workgroup a row.

@compute @workgroup_size(TEAM)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = folded(group);
    if row >= ROWS * run.positions { return; }
    let base = row * X_PITCH + X_COLUMN;
    var square = 0.0;
    for (var d = local; d < WIDTH; d += TEAM) { square += f32(x[base + d]) * f32(x[base + d]); }
    let r = inverseSqrt(sum_all(local, square) / f32(WIDTH) + EPSILON);
    for (var d = local; d < WIDTH; d += TEAM) {
        y[row * WIDTH + d] = y_element(f32(x[base + d]) * r * w[d]);
    }
}
