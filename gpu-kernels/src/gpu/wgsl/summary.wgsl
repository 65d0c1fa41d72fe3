// What a batch comes to; zeros before it.
struct Summary {
    // Means over the batch.
    policy: f32,
    value: f32,
    gradient_norm: f32,
    // What the gradient was multiplied by.
    loss_scale: f32,
    // What became of the step.
    outcome: u32,
    // For the optimizer: what it multiplies the gradient by, the learning rate over the first
    // moment's correction, the root of the second moment's.
    factor: f32,
    step_size: f32,
    root_correction: f32,
}

const TAKEN: u32 = 0u;
// The gradient overflowed, and is tried smaller with the next batch.
const SKIPPED: u32 = 1u;
// The loss or the gradient is not finite, or that of a step before was not.
const DIVERGED: u32 = 2u;

// What lasts from step to step, besides parameters and moments.
struct Control {
    // Steps taken.
    steps: u32,
    // Gradients are of so many times the loss, which keeps them from vanishing in f16.
    loss_scale: f32,
    // Steps since the scale was changed.
    good_steps: u32,
    // After a step that diverged nothing changes any more, until the host has been told.
    halted: u32,
}
