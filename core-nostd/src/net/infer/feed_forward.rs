//! The gated feed-forward layer.
use core::ops::Range;

use super::{
    arithmetic::{add_to_channel, rescale},
    curves::{ACTIVATION_LIMIT, Curves},
    kernel::Tile,
    linear::{BLOCK, Linear},
    norm::Norm,
    scratch::Arena,
};
use crate::net::kbz::{LayerReader, Matrix, ModelError, Part, Scale};

/// Bits above a gate's: |silu(x)| ≤ |x| ≤ [`ACTIVATION_LIMIT`] = 2^19.
const GATE_ROOM: u32 = 11;
/// Magnitude of the up projection's outputs.
pub const UP_LIMIT: i32 = (1 << 23) - 1;

/// `stream += down(silu(gate(norm(stream))) · up(norm(stream)))`.
///
/// The gate's outputs are in the common fixed point; up's carry the scale of the hidden
/// activations, so that after the product only a shift remains.
#[derive(Debug, Clone, Copy)]
pub struct FeedForward<'a> {
    norm: Norm<'a>,
    gate: Linear<'a>,
    up: Linear<'a>,
    hidden: Scale<'a>,
    down: Linear<'a>,
}

impl<'a> FeedForward<'a> {
    pub fn read(sections: &mut LayerReader<'_, 'a>) -> Result<FeedForward<'a>, ModelError> {
        Ok(FeedForward {
            norm: Norm::read(sections)?,
            gate: sections.linear(Matrix::Gate)?,
            up: sections.linear(Matrix::Up)?,
            hidden: sections.scale(Part::HiddenShift)?,
            down: sections.linear(Matrix::Down)?,
        })
    }

    /// Adds to `stream`, `[rows, width]`, `tokens` rows at a time.
    pub fn run(
        &self,
        curves: &Curves<'_>,
        stream: &mut [i16],
        tokens: usize,
        mut arena: Arena<'_>,
    ) -> Result<(), ModelError> {
        let (width, hidden) = (self.down.rows(), self.gate.rows());
        let mut inputs = Tile::take(&mut arena, tokens, width)?;
        let mut hiddens = Tile::take(&mut arena, tokens, hidden)?;
        let gates = arena.take::<i32>(BLOCK * tokens)?;
        let sums = arena.take::<i32>(2 * tokens)?;
        for rows in stream.chunks_exact_mut(tokens * width) {
            for (token, row) in rows.chunks_exact(width).enumerate() {
                self.norm.apply(row, &mut inputs, token);
            }
            for first in (0..hidden).step_by(BLOCK) {
                let units = first..hidden.min(first + BLOCK);
                self.gated(units, curves, &inputs, gates, sums, &mut hiddens);
            }
            self.down.each(0..width, &hiddens, sums, i32::MAX, |channel, ys| {
                add_to_channel(rows, width, channel, ys);
            });
        }
        Ok(())
    }

    /// Hidden `units`, at most [`BLOCK`], of every token.
    #[inline(never)]
    fn gated(
        &self,
        units: Range<usize>,
        curves: &Curves<'_>,
        inputs: &Tile<'_>,
        gates: &mut [i32],
        sums: &mut [i32],
        hiddens: &mut Tile<'_>,
    ) {
        let limit = hiddens.limit();
        let tokens = inputs.tokens();
        let (left, shift) = self.hidden.shift().widened(GATE_ROOM);
        let of = |unit: usize| (unit - units.start) * tokens..(unit - units.start + 1) * tokens;
        self.gate.each(units.clone(), inputs, sums, ACTIVATION_LIMIT, |unit, ys| {
            for (gate, &y) in gates[of(unit)].iter_mut().zip(ys) {
                *gate = curves.silu(y) << left;
            }
        });
        self.up.each(units.clone(), inputs, sums, UP_LIMIT, |unit, ys| {
            let gated = gates[of(unit)].iter().zip(ys);
            let hidden = gated.map(|(&g, &y)| rescale(g, y, shift, 0, limit) as i16);
            hiddens.set_column(unit, hidden);
        });
    }
}
