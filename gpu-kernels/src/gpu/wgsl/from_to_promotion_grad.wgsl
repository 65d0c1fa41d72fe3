// dx[n, f, plane] (+)= sum of dy[e] over the entries of n with that origin and plane.

@group(0) @binding(1) var<storage, read> entries: array<Entry>;
@group(0) @binding(2) var<storage, read> offsets: array<u32>;
@group(0) @binding(3) var<storage, read> dy: array<f32>;
@group(0) @binding(4) var<storage, read_write> dx: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    let row = i / WIDTH;
    let plane = i % WIDTH;
    let n = row / SQUARES;
    if n >= run.positions { return; }
    var sum = 0.0;
    for (var e = offsets[n]; e < offsets[n + 1u]; e++) {
        let entry = entries[e];
        if from_of(entry) == row % SQUARES && plane_of(entry) == plane { sum += dy[e]; }
    }
    let at = row * X_PITCH + X_COLUMN + plane;
    if X_ADDS { sum += dx[at]; }
    dx[at] = sum;
}
