//! The network's layers as they run on integers.
use super::{
    attention::{SquareAttention, TrunkAttention},
    embedding::{Embedding, Pool},
    feed_forward::FeedForward,
    norm::Norm,
    policy::{FromToPolicy, PooledPolicy},
    scratch::Arena,
    state_space::StateSpace,
    value::Value,
};
use crate::net::{
    Config, Layer, PolicyHead,
    kbz::{ModelError, Reader},
};

/// One layer, with its sections of the model file.
#[derive(Debug, Clone, Copy)]
pub enum Step<'a> {
    Embedding(Embedding<'a>),
    SquareAttention(SquareAttention<'a>),
    TrunkAttention(TrunkAttention<'a>),
    StateSpace(StateSpace<'a>),
    SquareFeedForward(FeedForward<'a>),
    TrunkFeedForward(FeedForward<'a>),
    EncoderNorm(Norm<'a>),
    Pool(Pool<'a>),
    TrunkNorm(Norm<'a>),
    Pooled(PooledPolicy<'a>),
    FromTo(FromToPolicy<'a>),
    Value(Value<'a>),
}

impl<'a> Step<'a> {
    /// Reads `layer`, whose sections must come next, into `arena` where they do not lie in memory.
    pub fn read<'m: 'a>(
        layer: Layer,
        config: &Config,
        reader: &mut Reader<'m>,
        arena: &mut Arena<'a>,
    ) -> Result<Step<'a>, ModelError> {
        let sections = &mut reader.layer(layer, config, arena);
        let step = match layer {
            Layer::Embedding => Step::Embedding(Embedding::read(sections)),
            Layer::Attention(place) if place.on_squares() => {
                Step::SquareAttention(SquareAttention::read(sections, config))
            }
            Layer::Attention(_) => Step::TrunkAttention(TrunkAttention::read(sections)),
            Layer::Ssm(_) => Step::StateSpace(StateSpace::read(sections, config)),
            Layer::FeedForward(place, _) if place.on_squares() => {
                Step::SquareFeedForward(FeedForward::read(sections, place))
            }
            Layer::FeedForward(place, _) => {
                Step::TrunkFeedForward(FeedForward::read(sections, place))
            }
            Layer::EncoderNorm => Step::EncoderNorm(Norm::read(sections)),
            Layer::Pool => Step::Pool(Pool::read(sections)),
            Layer::TrunkNorm => Step::TrunkNorm(Norm::read(sections)),
            Layer::Policy(PolicyHead::Pooled) => Step::Pooled(PooledPolicy::read(sections)),
            Layer::Policy(PolicyHead::FromTo) => Step::FromTo(FromToPolicy::read(sections, config)),
            Layer::Value => Step::Value(Value::read(sections)),
        };
        sections.outcome()?;
        Ok(step)
    }
}
