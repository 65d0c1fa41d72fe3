// dx (+)= r (w dy - x r^2 mean(w dy x)); a workgroup a row. Keeps each row's r for the weight.

@compute @workgroup_size(TEAM)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = folded(group);
    if row >= ROWS * run.positions { return; }
    let base = row * X_PITCH + X_COLUMN;
    var square = 0.0;
    var product = 0.0;
    for (var d = local; d < WIDTH; d += TEAM) {
        square += f32(x[base + d]) * f32(x[base + d]);
        product += f32(x[base + d]) * w[d] * f32(dy[row * WIDTH + d]);
    }
    let r = inverseSqrt(sum_all(local, square) / f32(WIDTH) + EPSILON);
    let shift = r * r * sum_all(local, product) / f32(WIDTH);
    for (var d = local; d < WIDTH; d += TEAM) {
        var value = r * (w[d] * f32(dy[row * WIDTH + d]) - f32(x[base + d]) * shift);
        if X_ADDS { value += f32(dx[base + d]); }
        dx[base + d] = dx_element(value);
    }
    if local == 0u { scale[row] = r; }
}
