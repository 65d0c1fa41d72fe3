// y[n, s, d] (+)= FACTOR x[n, d], on every square.

@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    let row = i / WIDTH;
    let d = i % WIDTH;
    if row >= run.positions * SQUARES { return; }
    let at = row * Y_PITCH + Y_COLUMN + d;
    var value = FACTOR * x[row / SQUARES * WIDTH + d];
    if Y_ADDS { value += y[at]; }
    y[at] = value;
}
