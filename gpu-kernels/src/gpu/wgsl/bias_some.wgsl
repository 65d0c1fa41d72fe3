fn bias_at(n: u32) -> f32 {
    return bias[n];
}
