//! Inference in integers, at a sequence length of one.
//!
//! Which number means what is written in `docs/kbz.md`. Every operation is defined on integers
//! of a fixed width, so that each target gives the same bytes.
mod adder;
mod arithmetic;
mod attention;
mod curves;
mod embedding;
mod exp;
mod faults;
mod feed_forward;
mod kernel;
mod linear;
mod norm;
mod output;
mod parts;
mod policy;
mod scratch;
pub mod self_test;
mod softmax;
mod state_space;
mod value;
mod vectors;
mod weights;

pub use arithmetic::{Shift, pair_limit, rescale, round_shift, saturate, wide_limit};
pub use curves::{
    ACTIVATION_FRACTION, ACTIVATION_LIMIT, CURVE_FRACTION, CURVE_POINTS, TANH_FRACTION,
    VALUE_FRACTION, points_per_unit,
};
pub use exp::{EXPONENT_FRACTION, POWER_FRACTION, exp2_negative};
pub(crate) use faults::Faults;
pub use feed_forward::UP_LIMIT;
pub use kernel::Width;
pub(crate) use linear::Linear;
pub use output::{Evaluation, LOGIT_FRACTION, ScoredMove};
use output::{Indexed, Scored};
pub(crate) use parts::part;
pub(crate) use scratch::Arena;
pub use scratch::{ample_scratch_bytes, scratch_bytes};
pub use softmax::{ATTENTION_FRACTION, PROBABILITY_ONE};
#[cfg(kernels = "x86")]
pub use vectors::Vectors;
pub(crate) use vectors::vectorized;
pub(crate) use weights::Weights;

use attention::{SquareAttention, TrunkAttention};
use curves::Curves;
use embedding::{Embedding, Pool};
use feed_forward::FeedForward;
use norm::Norm;
use policy::{FromToPolicy, PooledPolicy};
use shakmaty::Chess;
use state_space::StateSpace;
use value::Value;

use super::{
    Layer, PolicyHead,
    kbz::{Model, ModelError},
    layers,
};
use crate::{
    inputs::{Inputs, SQUARES},
    moves::MoveIndex,
};

/// What the streams and the answer look like after a layer.
#[derive(Debug)]
pub struct Snapshot<'s> {
    /// The squares' stream, `[64, width]`; after the encoder's norm, its outputs.
    pub squares: &'s [i16],
    /// The trunk's stream, `[width]`, once the squares are pooled.
    pub trunk: &'s [i16],
}

impl<'a> Model<'a> {
    /// Scores the legal moves of `position` and the position itself.
    ///
    /// `scratch` may have any alignment; it must have [`Model::scratch_bytes`], else the error says
    /// how many. Its contents do not matter.
    pub fn evaluate(&self, position: &Chess, scratch: &mut [u8]) -> Result<Evaluation, ModelError> {
        let mut answer = Evaluation::default();
        self.evaluate_into(&mut answer, position, scratch)?;
        Ok(answer)
    }

    /// Like [`Model::evaluate`], with the answer in place: it takes 3.5 KB, which a stack should
    /// hold once. After an error it is unscored.
    ///
    /// # Errors
    /// As for [`Model::evaluate`].
    pub fn evaluate_into(
        &self,
        answer: &mut Evaluation,
        position: &Chess,
        scratch: &mut [u8],
    ) -> Result<(), ModelError> {
        let perspective = self.config().perspective;
        answer.start(position, perspective);
        let inputs = Inputs::new(position, perspective);
        let value = self.run(&inputs, answer, scratch, &mut |_, _| {})?;
        answer.finish(value);
        Ok(())
    }

    /// Fills `logits`, in [`LOGIT_FRACTION`] bits, for as many of `moves` as it has room for,
    /// and returns the value, in [`VALUE_FRACTION`] bits. Scratch is as for
    /// [`Model::evaluate`].
    pub fn score(
        &self,
        inputs: &Inputs,
        moves: &[MoveIndex],
        logits: &mut [i32],
        scratch: &mut [u8],
    ) -> Result<i16, ModelError> {
        self.score_observed(inputs, moves, logits, scratch, &mut |_, _| {})
    }

    /// Like [`Model::score`], showing the streams to `observe` after each layer.
    pub fn score_observed(
        &self,
        inputs: &Inputs,
        moves: &[MoveIndex],
        logits: &mut [i32],
        scratch: &mut [u8],
        observe: &mut dyn FnMut(Layer, Snapshot<'_>),
    ) -> Result<i16, ModelError> {
        self.run(inputs, &mut Indexed { moves, logits }, scratch, observe)
    }

    /// Fills in the logits of `moves`; returns the value.
    #[inline(never)] // so that its code is counted as what it is
    fn run(
        &self,
        inputs: &Inputs,
        moves: &mut dyn Scored,
        scratch: &mut [u8],
        observe: &mut dyn FnMut(Layer, Snapshot<'_>),
    ) -> Result<i16, ModelError> {
        let faults = Faults::default();
        let needed = self.scratch_bytes();
        let short = ModelError::Scratch { needed, actual: scratch.len() };
        let arena = Arena::new(scratch, needed)?.noting(&faults);
        // What nobody noted is a layer that found no room.
        faults.outcome(self.run_layers(inputs, moves, arena, observe), short)
    }

    /// The same; `None` where the arena noted a fault, or had too little room.
    fn run_layers<'s>(
        &self,
        inputs: &Inputs,
        moves: &mut dyn Scored,
        mut arena: Arena<'s>,
        observe: &mut dyn FnMut(Layer, Snapshot<'_>),
    ) -> Option<i16>
    where
        'a: 's,
    {
        let config = self.config();
        let width = config.width as usize;
        let squares = arena.take::<i16>(SQUARES * width);
        let trunk = arena.take::<i16>(width);
        arena.outcome()?;
        let mut reader = self.reader();
        let curves = Curves::new(reader.curves(&mut arena)?);
        let mut value = 0;
        for layer in layers(config) {
            let sections = &mut reader.layer(layer, config, arena.scope());
            match layer {
                Layer::Embedding => Embedding::run(sections, inputs, width, squares)?,
                Layer::Attention(place) if place.on_squares() => {
                    SquareAttention::run(sections, config, squares)?;
                }
                Layer::Attention(_) => TrunkAttention::run(sections, trunk)?,
                Layer::Ssm(_) => StateSpace::run(sections, config, &curves, trunk)?,
                Layer::FeedForward(place, _) => {
                    let stream = if place.on_squares() { &mut *squares } else { &mut *trunk };
                    FeedForward::run(sections, place, &curves, stream)?;
                }
                Layer::EncoderNorm => Norm::run(sections, width, squares)?,
                Layer::Pool => Pool::run(sections, squares, trunk)?,
                Layer::TrunkNorm => Norm::run(sections, width, trunk)?,
                Layer::Policy(PolicyHead::Pooled) => PooledPolicy::run(sections, trunk, moves)?,
                Layer::Policy(PolicyHead::FromTo) => {
                    FromToPolicy::run(sections, config, squares, trunk, moves)?;
                }
                Layer::Value => value = Value::run(sections, &curves, trunk)?,
            }
            observe(layer, Snapshot { squares, trunk });
        }
        Some(value)
    }
}
