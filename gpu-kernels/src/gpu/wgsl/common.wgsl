// What every kernel sees. Its sizes stand above this text as constants, from the program's
// shapes. Of a matrix X that a kernel reads or writes, X_PITCH is the distance of its rows and
// X_COLUMN its first column; X_ADDS says that a gradient adds to what is there.

struct Run {
    // Positions in the buffers, and their legal entries.
    positions: u32,
    entries: u32,
    // One over the positions of the whole batch: losses are means over it.
    mean: f32,
    value_weight: f32,
    // AdamW: longest gradient (the largest float where none is set), decay of the moments.
    clip: f32,
    beta1: f32,
    beta2: f32,
    epsilon: f32,
    learning_rate: f32,
    // What a parameter keeps after weight decay.
    keep: f32,
    // Positions of a sequence; `positions` is a multiple of it.
    length: u32,
    // How far the running average of the parameters moves towards them.
    average_weight: f32,
}

@group(0) @binding(0) var<uniform> run: Run;

// A dispatch of more workgroups than this is folded into two dimensions.
const FOLD: u32 = 32768u;

fn folded(group: vec3<u32>) -> u32 {
    return group.y * FOLD + group.x;
}

fn sigmoid(x: f32) -> f32 {
    return 1.0 / (1.0 + exp(-clamp(x, -80.0, 80.0)));
}

fn silu(x: f32) -> f32 {
    return x * sigmoid(x);
}

fn silu_slope(x: f32) -> f32 {
    let s = sigmoid(x);
    return s * (1.0 + x * (1.0 - s));
}
