fn bias_at(n: u32) -> f32 {
    return 0.0;
}
