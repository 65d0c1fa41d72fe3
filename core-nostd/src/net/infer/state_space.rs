//! The selective state space over a single position.
use super::{
    arithmetic::{Shift, pair_limit, round_shift, saturate, saturate_i16},
    curves::{ACTIVATION_FRACTION, ACTIVATION_LIMIT, Curves},
    kernel::{Activation, dot_pairs},
    linear::Linear,
    norm::Norm,
    scratch::Arena,
};
use crate::net::{
    Config,
    kbz::{LayerReader, Matrix, ModelError, Part, Scale, Words},
};

/// Magnitude, in [`ACTIVATION_FRACTION`] bits, of `B·C` and of the factor on u.
const FACTOR_LIMIT: i32 = (1 << 27) - 1;

/// `trunk += out(u · (step · (B·C) + skip) · silu(z))`: from a zero state the decay drops out,
/// and of the convolution only the last tap, which `in_proj` contains.
#[derive(Debug, Clone, Copy)]
pub struct StateSpace<'a> {
    norm: Norm<'a>,
    in_proj: Linear<'a>,
    input_scale: Scale<'a>,
    x_proj: Linear<'a>,
    state_scale: Scale<'a>,
    step_proj: Linear<'a>,
    skip: Words<'a>,
    output_scale: Scale<'a>,
    out_proj: Linear<'a>,
    rank: usize,
    states: usize,
}

/// `x · y` in [`ACTIVATION_FRACTION`] bits, as its factors are, within `limit`. The factors are
/// below 2^31.
fn product(x: i32, y: i32, limit: i32) -> i32 {
    let shift = Shift::saturating(ACTIVATION_FRACTION as i32);
    saturate(round_shift(i64::from(x) * i64::from(y), shift), limit)
}

impl<'a> StateSpace<'a> {
    pub fn read(
        sections: &mut LayerReader<'_, 'a>,
        config: &Config,
    ) -> Result<StateSpace<'a>, ModelError> {
        Ok(StateSpace {
            norm: Norm::read(sections)?,
            in_proj: sections.linear_with_bias(Matrix::InProj)?,
            input_scale: sections.scale(Part::StateInputScale)?,
            x_proj: sections.linear(Matrix::XProj)?,
            state_scale: sections.scale(Part::StateScale)?,
            step_proj: sections.linear_with_bias(Matrix::StepProj)?,
            skip: sections.words(Part::Skip)?,
            output_scale: sections.scale(Part::StateOutputScale)?,
            out_proj: sections.linear(Matrix::OutProj)?,
            rank: config.ssm_rank as usize,
            states: config.ssm_state as usize,
        })
    }

    /// Adds to `trunk`, `[width]`.
    pub fn run(
        &self,
        curves: &Curves<'_>,
        trunk: &mut [i16],
        mut arena: Arena<'_>,
    ) -> Result<(), ModelError> {
        let inner = self.step_proj.rows();
        let input = arena.take::<i16>(trunk.len())?;
        let u = arena.take::<i32>(inner)?;
        let gate = arena.take::<i32>(inner)?;
        let activations = arena.take::<i16>(inner)?;
        let step = arena.take::<i16>(self.rank)?;
        let b = arena.take::<i16>(self.states)?;
        let c = arena.take::<i16>(self.states)?;

        self.norm.apply(trunk, input);
        for (row, x) in u.iter_mut().chain(gate.iter_mut()).enumerate() {
            *x = curves.silu(saturate(self.in_proj.one(row, input), ACTIVATION_LIMIT));
        }
        let limit = <i16 as Activation>::limit(inner);
        for (channel, (out, &u)) in activations.iter_mut().zip(u.iter()).enumerate() {
            *out = saturate_i16(self.input_scale.apply(channel, u), limit);
        }
        self.project(activations, step, b, c);
        let state = saturate(self.state_scale.apply(0, dot_pairs(b, c)), FACTOR_LIMIT);
        for (channel, out) in activations.iter_mut().enumerate() {
            let y = product(u[channel], self.factor(channel, curves, step, state), i32::MAX);
            let gated = product(y, gate[channel], i32::MAX);
            *out = saturate_i16(self.output_scale.apply(channel, gated), limit);
        }
        for (channel, x) in trunk.iter_mut().enumerate() {
            let sum = i64::from(*x) + self.out_proj.one(channel, activations);
            *x = saturate_i16(sum, i32::from(i16::MAX));
        }
        Ok(())
    }

    /// Low-rank step, B and C of u.
    fn project(&self, u: &[i16], step: &mut [i16], b: &mut [i16], c: &mut [i16]) {
        let step_limit = <i16 as Activation>::limit(self.rank);
        let state_limit = pair_limit(self.states);
        let states = b.iter_mut().chain(c).map(|x| (x, state_limit));
        let rows = step.iter_mut().map(|x| (x, step_limit)).chain(states);
        for (row, (x, limit)) in rows.enumerate() {
            *x = saturate_i16(self.x_proj.one(row, u), limit);
        }
    }

    /// `step · (B·C) + skip` of a channel.
    fn factor(&self, channel: usize, curves: &Curves<'_>, step: &[i16], state: i32) -> i32 {
        let raw = saturate(self.step_proj.one(channel, step), ACTIVATION_LIMIT);
        let from_state = product(curves.softplus(raw), state, FACTOR_LIMIT);
        saturate(i64::from(from_state) + i64::from(self.skip.get(channel)), FACTOR_LIMIT)
    }
}
