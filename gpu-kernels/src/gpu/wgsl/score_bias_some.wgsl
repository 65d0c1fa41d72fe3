fn score_bias(head: u32, query: u32, key: u32) -> f32 {
    return score_biases[(head * SQUARES + query % SQUARES) * SQUARES + key % SQUARES];
}
