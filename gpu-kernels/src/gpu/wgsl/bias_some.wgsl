@group(0) @binding(4) var<storage, read> bias: array<f32>;

fn bias_at(n: u32) -> f32 {
    return bias[n];
}
