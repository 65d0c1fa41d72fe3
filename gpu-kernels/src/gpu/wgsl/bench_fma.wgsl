// Chains of multiply-adds that never leave the registers: the adapter's peak. `each` chain is a
// vector of four, CHAINS of them, and a turn of the loop takes every chain 8 links on.

@group(0) @binding(0) var<storage, read_write> result: array<f32>;
@group(0) @binding(1) var<uniform> turns: vec4<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    // From the uniform, so that nothing is known before it runs; near 1, so that nothing overflows.
    let by = vec4<f32>(1.0 - f32(turns.y) * 1e-7);
    let start = f32(id.x) * 1e-6;
    each i in CHAINS: var x{i} = vec4<f32>(start + {i}.0);
    for (var turn = 0u; turn < turns.x; turn++) {
        each link in 8, i in CHAINS: x{i} = fma(x{i}, by, by); // {link}
    }
    var sum = vec4<f32>();
    each i in CHAINS: sum += x{i};
    result[id.x] = dot(sum, vec4<f32>(1.0));
}
