//! Small configurations that together have every layer and option.
use kibitzer_core::{
    inputs::Perspective,
    net::{Config, PolicyHead},
};

/// Attention and state space, both heads, and as little as there can be.
pub fn configs() -> [Config; 3] {
    let small = |trunk: &str| Config {
        width: 6,
        heads: 2,
        encoder_blocks: 1,
        trunk: trunk.try_into().expect("short"),
        ffn_mult: 1,
        ssm_expand: 1,
        ssm_state: 2,
        ssm_rank: 2,
        ssm_conv: 4,
        ssm_ffn_mult: 2,
        policy_dim: 3,
        ..Config::default()
    };
    let from_to = Config {
        perspective: Perspective::Mover,
        policy_head: PolicyHead::FromTo,
        attention_bias: true,
        ..small("SA")
    };
    let bare = Config { encoder_blocks: 0, policy_head: PolicyHead::FromTo, ..small("") };
    [from_to, small("AS"), bare]
}
