//! Inference in integers, at a sequence length of one.
//!
//! Which number means what is written in `docs/kbz.md`. Every operation is defined on integers
//! of a fixed width, so that each target gives the same bytes.
mod arithmetic;
mod attention;
mod curves;
mod embedding;
mod exp;
mod feed_forward;
mod kernel;
mod linear;
mod norm;
mod output;
mod policy;
mod scratch;
mod softmax;
mod state_space;
mod step;
mod value;

pub use arithmetic::{Shift, pair_limit, requantize, round_shift, saturate, wide_limit};
pub use curves::{
    ACTIVATION_FRACTION, ACTIVATION_LIMIT, CURVE_FRACTION, CURVE_POINTS, TANH_FRACTION,
    VALUE_FRACTION, points_per_unit,
};
pub use exp::{EXPONENT_FRACTION, POWER_FRACTION, exp2_negative};
pub(crate) use linear::Linear;
pub use output::{Evaluation, LOGIT_FRACTION, ScoredMove};
pub use scratch::scratch_bytes;
pub use softmax::{ATTENTION_FRACTION, PROBABILITY_ONE};
pub(crate) use step::Step;

use curves::Curves;
use scratch::{Arena, TILE};
use shakmaty::Chess;

use super::{
    Layer,
    kbz::{Model, ModelError},
    layers,
};
use crate::inputs::{Inputs, SQUARES};

/// What the streams and the answer look like after a layer.
#[derive(Debug)]
pub struct Snapshot<'s> {
    /// The squares' stream, `[64, width]`; after the encoder's norm, its outputs.
    pub squares: &'s [i16],
    /// The trunk's stream, `[width]`, once the squares are pooled.
    pub trunk: &'s [i16],
}

impl Model<'_> {
    /// Scores the legal moves of `position` and the position itself.
    ///
    /// `scratch` may have any alignment; it must have [`scratch_bytes`] bytes, else the error
    /// says how many. Its contents do not matter.
    pub fn evaluate(&self, position: &Chess, scratch: &mut [u8]) -> Result<Evaluation, ModelError> {
        self.evaluate_observed(position, scratch, &mut |_, _| {})
    }

    /// Like [`Model::evaluate`], showing the streams to `observe` after each layer.
    pub fn evaluate_observed(
        &self,
        position: &Chess,
        scratch: &mut [u8],
        observe: &mut dyn FnMut(Layer, Snapshot<'_>),
    ) -> Result<Evaluation, ModelError> {
        let config = self.config();
        let width = config.width as usize;
        let mut arena = Arena::new(scratch, scratch_bytes(config))?;
        let squares = arena.take::<i16>(SQUARES * width)?;
        let trunk = arena.take::<i16>(width)?;
        let mut reader = self.reader();
        let curves = Curves::new(reader.curves()?);
        let mut answer = Evaluation::new(position, config.perspective);
        for layer in layers(config) {
            let arena = arena.scope();
            match Step::read(layer, config, &mut reader)? {
                Step::Embedding(step) => {
                    let inputs = Inputs::new(position, config.perspective);
                    step.run(&inputs, width, squares);
                }
                Step::SquareAttention(step) => step.run(squares, arena)?,
                Step::SquareFeedForward(step) => step.run::<i8>(&curves, squares, TILE, arena)?,
                Step::EncoderNorm(norm) => {
                    squares.chunks_exact_mut(width).for_each(|row| norm.apply_in_place(row));
                }
                Step::Pool(step) => step.run(squares, trunk),
                Step::TrunkAttention(step) => step.run(trunk, arena)?,
                Step::StateSpace(step) => step.run(&curves, trunk, arena)?,
                Step::TrunkFeedForward(step) => step.run::<i16>(&curves, trunk, 1, arena)?,
                Step::TrunkNorm(norm) => norm.apply_in_place(trunk),
                Step::Pooled(step) => step.run(trunk, answer.moves_mut()),
                Step::FromTo(step) => step.run(squares, trunk, answer.moves_mut(), arena)?,
                Step::Value(step) => answer.set_value(step.run(&curves, trunk, arena)?),
            }
            observe(layer, Snapshot { squares, trunk });
        }
        answer.rank();
        Ok(answer)
    }
}
