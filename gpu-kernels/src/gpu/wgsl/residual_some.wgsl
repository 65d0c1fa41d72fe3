@group(0) @binding(5) var<storage, read> residual: array<f32>;

fn residual_at(m: u32, n: u32) -> f32 {
    return residual[m * N + n];
}
