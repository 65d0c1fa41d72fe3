// y[i] += sum over the SPLITS parts of x[part, i], i below LEN.

@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    if i >= LEN { return; }
    var sum = 0.0;
    for (var part = 0u; part < SPLITS; part++) { sum += x[part * LEN + i]; }
    y[i] += sum;
}
