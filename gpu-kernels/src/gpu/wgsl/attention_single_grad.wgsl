// Attention over a sequence of one position: dv = dy, and dq = dk = 0.

@group(0) @binding(1) var<storage, read> dy: array<f32>;
@group(0) @binding(2) var<storage, read_write> dqkv: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    let n = i / (3u * WIDTH);
    let c = i % (3u * WIDTH);
    if n >= run.positions { return; }
    var value = 0.0;
    if c >= 2u * WIDTH { value = dy[n * WIDTH + c - 2u * WIDTH]; }
    let at = n * QKV_PITCH + QKV_COLUMN + c;
    if QKV_ADDS { value += dqkv[at]; }
    dqkv[at] = value;
}
