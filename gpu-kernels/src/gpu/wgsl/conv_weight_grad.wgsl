// partial[split, c, k] = sum over the split's positions n of da[n, c] x[n - (TAPS - 1) + k, c].

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let blocks = (WIDTH * TAPS + 63u) / 64u;
    let index = folded(group);
    let split = index / blocks;
    let i = index % blocks * 64u + local;
    if split >= SPLITS || i >= WIDTH * TAPS { return; }
    let c = i / TAPS;
    let back = TAPS - 1u - i % TAPS;
    let share = (run.positions + SPLITS - 1u) / SPLITS;
    var sum = 0.0;
    for (var n = split * share; n < min((split + 1u) * share, run.positions); n++) {
        if n % run.length >= back {
            sum += f32(da[n * WIDTH + c]) * f32(x[(n - back) * X_PITCH + X_COLUMN + c]);
        }
    }
    partial[split * WIDTH * TAPS + i] = sum;
}
