@group(0) @binding(7) var<storage, read> score_biases: array<f32>;

fn score_bias(head: u32, query: u32, key: u32) -> f32 {
    return score_biases[(head * 64u + query) * 64u + key];
}
