// The gradient of one side's vectors: dx[n, s] (+)= sum over the entries of n that have s on
// this side of dy[e] other[n, the other side's square] / sqrt(WIDTH). FROM: this side is the
// origin.

@group(0) @binding(1) var<storage, read> entries: array<Entry>;
@group(0) @binding(2) var<storage, read> offsets: array<u32>;
@group(0) @binding(3) var<storage, read> other: array<f32>;
@group(0) @binding(4) var<storage, read> dy: array<f32>;
@group(0) @binding(5) var<storage, read_write> dx: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    let row = i / WIDTH;
    let d = i % WIDTH;
    let n = row / SQUARES;
    if n >= run.positions { return; }
    var sum = 0.0;
    for (var e = offsets[n]; e < offsets[n + 1u]; e++) {
        let entry = entries[e];
        let here = select(to_of(entry), from_of(entry), FROM);
        let there = select(from_of(entry), to_of(entry), FROM);
        if here == row % SQUARES {
            sum += dy[e] * other[(n * SQUARES + there) * OTHER_PITCH + OTHER_COLUMN + d];
        }
    }
    sum *= SCALE;
    let at = row * X_PITCH + X_COLUMN + d;
    if X_ADDS { sum += dx[at]; }
    dx[at] = sum;
}
