// y[n, s] = piece[token[n, s]] + square[s] + aux scalars[n]. Four tokens a word.

@group(0) @binding(1) var<storage, read> tokens: array<u32>;
@group(0) @binding(2) var<storage, read> scalars: array<f32>;
@group(0) @binding(3) var<storage, read> piece: array<f32>;
@group(0) @binding(4) var<storage, read> square: array<f32>;
@group(0) @binding(5) var<storage, read> aux: array<f32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    let row = i / WIDTH;
    let d = i % WIDTH;
    if row >= run.positions * SQUARES { return; }
    let token = tokens[row / 4u] >> (row % 4u * 8u) & 0xffu;
    let n = row / SQUARES;
    var sum = piece[token * WIDTH + d] + square[row % SQUARES * WIDTH + d];
    for (var j = 0u; j < AUX; j++) { sum += aux[d * AUX + j] * scalars[n * AUX + j]; }
    y[i] = sum;
}
