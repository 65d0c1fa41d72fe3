// y[e] = from[n, f] to[n, t] / sqrt(WIDTH) (+ promotion[n, f, plane]).

@group(0) @binding(1) var<storage, read> entries: array<Entry>;
@group(0) @binding(2) var<storage, read> origin: array<f32>;
@group(0) @binding(3) var<storage, read> target_: array<f32>;
@group(0) @binding(4) var<storage, read> promotion: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let e = folded(group) * 256u + local;
    if e >= run.entries { return; }
    let entry = entries[e];
    let row = entry.position * SQUARES + from_of(entry);
    let other = entry.position * SQUARES + to_of(entry);
    var sum = 0.0;
    for (var d = 0u; d < WIDTH; d++) {
        sum += origin[row * FROM_PITCH + FROM_COLUMN + d] * target_[other * TO_PITCH + TO_COLUMN + d];
    }
    sum *= SCALE;
    let plane = plane_of(entry);
    if plane != NO_PLANE { sum += promotion[row * PROMOTION_PITCH + PROMOTION_COLUMN + plane]; }
    y[e] = sum;
}
