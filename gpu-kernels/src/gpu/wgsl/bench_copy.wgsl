// Copies one array to another, a vector of four an invocation and turn.

@group(0) @binding(0) var<storage, read_write> target_vectors: array<vec4<f32>>;
@group(0) @binding(1) var<uniform> count: vec4<u32>;
@group(0) @binding(2) var<storage, read> source_vectors: array<vec4<f32>>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = id.x; i < count.x; i += groups.x * 256u) {
        target_vectors[i] = source_vectors[i];
    }
}
