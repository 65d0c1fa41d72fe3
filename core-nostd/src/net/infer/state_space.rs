//! The selective state space over a single position.
use super::{
    adder::add_to,
    arithmetic::{Shift, pair_limit, rescale, saturate},
    curves::{ACTIVATION_FRACTION, ACTIVATION_LIMIT, Curves},
    kernel::{Tile, Width, dot},
    linear::Linear,
    norm::Norm,
    scratch::Arena,
    weights::Buffer,
};
use crate::net::{
    Config,
    kbz::{LayerReader, Matrix, Part, Scale, Words},
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

/// `x · y` in [`ACTIVATION_FRACTION`] bits, as its factors are, within `limit`.
fn product(x: i32, y: i32, limit: i32) -> i32 {
    rescale(x, y, Shift::saturating(ACTIVATION_FRACTION as i32), 0, limit)
}

impl<'a> StateSpace<'a> {
    #[inline(never)] // so that it is written where it lies
    fn read(sections: &mut LayerReader<'_, 'a>, config: &Config) -> StateSpace<'a> {
        StateSpace {
            norm: Norm::read(sections),
            in_proj: sections.linear_with_bias(Matrix::InProj),
            input_scale: sections.scale(Part::StateInputScale),
            x_proj: sections.linear(Matrix::XProj),
            state_scale: sections.scale(Part::StateScale),
            step_proj: sections.linear_with_bias(Matrix::StepProj),
            skip: sections.words(Part::Skip),
            output_scale: sections.scale(Part::StateOutputScale),
            out_proj: sections.linear(Matrix::OutProj),
            rank: config.ssm_rank as usize,
            states: config.ssm_state as usize,
        }
    }

    /// Adds to `trunk`, `[width]`.
    pub fn run(
        sections: &mut LayerReader<'_, 'a>,
        config: &Config,
        curves: &Curves<'_>,
        trunk: &mut [i16],
    ) -> Option<()> {
        let layer = StateSpace::read(sections, config);
        layer.add(curves, trunk, sections.finish()?)
    }

    #[inline(never)] // what it needs must not stay on the stack of the other layers
    fn add(&self, curves: &Curves<'_>, trunk: &mut [i16], mut arena: Arena<'_>) -> Option<()> {
        let inner = self.step_proj.rows();
        let mut input = Tile::take(&mut arena, 1, trunk.len(), Width::Single);
        let u = arena.take::<i32>(inner);
        let gate = arena.take::<i32>(inner);
        let mut activations = Tile::take(&mut arena, 1, inner, Width::Single);
        let mut step = Tile::take(&mut arena, 1, self.rank, Width::Single);
        let b = arena.take::<i16>(self.states);
        let c = arena.take::<i16>(self.states);
        let matrices = [&self.in_proj, &self.x_proj, &self.step_proj, &self.out_proj];
        let mut buffer = Linear::buffer(&mut arena, &matrices);
        arena.outcome()?;
        let buffer = &mut buffer;

        self.norm.apply(trunk, &mut input, 0);
        self.in_proj.each_single(
            0..2 * inner,
            &input,
            buffer,
            ACTIVATION_LIMIT,
            &mut |row: usize, y: i32| {
                if let Some(x) =
                    if row < inner { u.get_mut(row) } else { gate.get_mut(row - inner) }
                {
                    *x = curves.silu(y);
                }
            },
        )?;
        let limit = activations.limit();
        for (channel, &u) in u.iter().enumerate() {
            let activation = self.input_scale.apply(channel, u, limit);
            activations.set(0, channel, activation as i16);
        }
        self.project(&activations, &mut step, [&mut *b, &mut *c], buffer)?;
        let state = self.state_scale.apply(0, dot(b, c), FACTOR_LIMIT);
        self.step_proj.each_single(
            0..inner,
            &step,
            buffer,
            ACTIVATION_LIMIT,
            &mut |channel: usize, raw: i32| {
                let (Some(&u), Some(&gate)) = (u.get(channel), gate.get(channel)) else { return };
                let factor = self.factor(channel, curves.softplus(raw), state);
                let y = product(u, factor, i32::MAX);
                let gated = product(y, gate, i32::MAX);
                let activation = self.output_scale.apply(channel, gated, limit);
                activations.set(0, channel, activation as i16);
            },
        )?;
        let channels = 0..trunk.len();
        self.out_proj.each_single(
            channels,
            &activations,
            buffer,
            i32::MAX,
            &mut |channel: usize, y: i32| {
                add_to(trunk, channel, y);
            },
        )
    }

    /// Low-rank step, B and C of u.
    fn project(
        &self,
        u: &Tile<'_>,
        step: &mut Tile<'_>,
        [b, c]: [&mut [i16]; 2],
        buffer: &mut Buffer<'_>,
    ) -> Option<()> {
        let limit = step.limit();
        self.x_proj.each_single(0..self.rank, u, buffer, limit, &mut |row: usize, y: i32| {
            step.set(0, row, y as i16)
        })?;
        let (limit, states) = (pair_limit(self.states), self.rank..self.rank + 2 * self.states);
        self.x_proj.each_single(states.clone(), u, buffer, limit, &mut |row: usize, y: i32| {
            let at = row - states.start;
            if let Some(x) = if at < b.len() { b.get_mut(at) } else { c.get_mut(at - b.len()) } {
                *x = y as i16;
            }
        })
    }

    /// `step · (B·C) + skip` of a channel.
    fn factor(&self, channel: usize, step: i32, state: i32) -> i32 {
        let from_state = product(step, state, FACTOR_LIMIT);
        saturate(i64::from(from_state) + i64::from(self.skip.get(channel)), FACTOR_LIMIT)
    }
}
