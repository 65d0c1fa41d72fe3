// What a step reports, and what the optimizer needs of it.
struct Summary {
    policy: f32,
    value: f32,
    gradient_norm: f32,
    // What the gradient is multiplied by.
    clip_factor: f32,
}
