fn bias_at(n: u32) -> vec4<f32> {
    return vec4<f32>(bias[n / 4u]);
}
