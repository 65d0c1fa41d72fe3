fn residual_at(m: u32, n: u32) -> vec4<f32> {
    return vec4<f32>(residual[(m * N + n) / 4u]);
}
