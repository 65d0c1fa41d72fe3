// dx[n] (+)= sum over the position's entries of dy[e] W[index].

@group(0) @binding(1) var<storage, read> entries: array<Entry>;
@group(0) @binding(2) var<storage, read> offsets: array<u32>;
@group(0) @binding(3) var<storage, read> w: array<f32>;
@group(0) @binding(4) var<storage, read> dy: array<f32>;
@group(0) @binding(5) var<storage, read_write> dx: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    let n = i / WIDTH;
    let d = i % WIDTH;
    if n >= run.positions { return; }
    var sum = 0.0;
    for (var e = offsets[n]; e < offsets[n + 1u]; e++) {
        sum += dy[e] * w[index_of(entries[e]) * WIDTH + d];
    }
    let at = n * X_PITCH + X_COLUMN + d;
    if X_ADDS { sum += dx[at]; }
    dx[at] = sum;
}
