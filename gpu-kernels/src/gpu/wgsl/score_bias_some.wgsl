fn score_bias(head: u32, query: u32, key: u32) -> f32 {
    return score_biases[(head * 64u + query % 64u) * 64u + key % 64u];
}
