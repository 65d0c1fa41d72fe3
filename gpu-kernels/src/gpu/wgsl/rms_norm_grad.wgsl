// dx (+)= r (w dy - x r^2 mean(w dy x)); a workgroup a row. Keeps each row's r for the weight.

@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
@group(0) @binding(3) var<storage, read> dy: array<f32>;
@group(0) @binding(4) var<storage, read_write> dx: array<f32>;
@group(0) @binding(5) var<storage, read_write> scale: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = folded(group);
    if row >= ROWS * run.positions { return; }
    let base = row * X_PITCH + X_COLUMN;
    var square = 0.0;
    var product = 0.0;
    for (var d = local; d < WIDTH; d += 64u) {
        square += x[base + d] * x[base + d];
        product += x[base + d] * w[d] * dy[row * WIDTH + d];
    }
    let r = inverseSqrt(sum64(local, square) / f32(WIDTH) + EPSILON);
    let shift = r * r * sum64(local, product) / f32(WIDTH);
    for (var d = local; d < WIDTH; d += 64u) {
        var value = r * (w[d] * dy[row * WIDTH + d] - x[base + d] * shift);
        if X_ADDS { value += dx[base + d]; }
        dx[base + d] = value;
    }
    if local == 0u { scale[row] = r; }
}
