// What a step reports, and what the optimizer needs of it.
struct Summary {
    policy: f32,
    value: f32,
    gradient_norm: f32,
    // What the gradient is multiplied by, and whether there is a step: 1, or 0 where the loss or
    // the gradient is not finite.
    clip_factor: f32,
    sound: u32,
}
