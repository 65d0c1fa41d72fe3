// dx (+)= dy f'(x).

@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> dy: array<f32>;
@group(0) @binding(3) var<storage, read_write> dx: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    let row = i / WIDTH;
    if row >= ROWS * run.positions { return; }
    let at = row * X_PITCH + X_COLUMN + i % WIDTH;
    var value = dy[i] * slope(x[at]);
    if X_ADDS { value += dx[at]; }
    dx[at] = value;
}
