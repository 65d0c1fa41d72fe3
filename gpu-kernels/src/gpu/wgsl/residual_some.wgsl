fn residual_at(m: u32, n: u32) -> f32 {
    return f32(residual[m * N + n]);
}
