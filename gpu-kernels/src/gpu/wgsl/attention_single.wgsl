// Attention over a sequence of one position: y = v.

@group(0) @binding(1) var<storage, read> qkv: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    let n = i / WIDTH;
    if n >= run.positions { return; }
    y[i] = qkv[n * QKV_PITCH + QKV_COLUMN + 2u * WIDTH + i % WIDTH];
}
