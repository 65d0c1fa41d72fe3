//! The gated feed-forward layer.
use core::ops::Range;

#[cfg(kernels = "x86")]
use super::kernel::words;
use super::{
    adder::Adder,
    arithmetic::{Shift, rescale},
    curves::{ACTIVATION_LIMIT, Curves},
    kernel::{Tile, Width},
    linear::{BLOCK, Linear},
    norm::Norm,
    parts::part_mut,
    scratch::{Arena, TILE},
    vectors::{LANES, vectorized},
    weights::Buffer,
};
#[cfg(kernels = "x86")]
use crate::inputs::SQUARES;
use crate::net::{
    Place,
    kbz::{LayerReader, Matrix, ModelError, Part, Scale},
};

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
    inputs: Width,
}

/// What a block of hidden units is computed in.
struct Work<'w, 's> {
    gates: &'w mut [i32],
    sums: &'w mut [i32],
    buffer: &'w mut Buffer<'s>,
}

vectorized! {
    /// Hidden activations: the product of gates and `ys`, rescaled, in the gates' place.
    fn multiply(gates: &mut [i32], ys: &[i32], shift: Shift, limit: i32) {
        let (gates, rest) = gates.as_chunks_mut::<LANES>();
        let (ys, rest_ys) = ys.as_chunks::<LANES>();
        for (gates, ys) in gates.iter_mut().zip(ys) {
            for (gate, &y) in gates.iter_mut().zip(ys) {
                *gate = rescale(*gate, y, shift, 0, limit);
            }
        }
        for (gate, &y) in rest.iter_mut().zip(rest_ys) {
            *gate = rescale(*gate, y, shift, 0, limit);
        }
    }
}

impl<'a> FeedForward<'a> {
    pub fn read(
        sections: &mut LayerReader<'_, 'a>,
        place: Place,
    ) -> Result<FeedForward<'a>, ModelError> {
        Ok(FeedForward {
            norm: Norm::read(sections)?,
            gate: sections.linear(Matrix::Gate)?,
            up: sections.linear(Matrix::Up)?,
            hidden: sections.scale(Part::HiddenShift)?,
            down: sections.linear(Matrix::down(place))?,
            inputs: sections.inputs(),
        })
    }

    /// Squares that pass together: as many as there is room for, where more are faster.
    #[cfg_attr(not(kernels = "x86"), allow(unused_variables))]
    pub fn tokens(&self, arena: &Arena<'_>) -> usize {
        #[cfg(kernels = "x86")]
        for tokens in [SQUARES, SQUARES / 2, SQUARES / 4] {
            let (width, hidden) = (self.down.rows(), self.gate.rows());
            let tiles = words(tokens, width, self.inputs) + words(tokens, hidden, self.inputs);
            if tiles + (BLOCK + 2) * tokens <= arena.free() {
                return tokens;
            }
        }
        TILE
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
        let wide = if tokens == 1 { Width::Single } else { self.inputs };
        let mut inputs = Tile::take(&mut arena, tokens, width, wide)?;
        let mut hiddens = Tile::take(&mut arena, tokens, hidden, wide)?;
        let gates = arena.take::<i32>(BLOCK * tokens)?;
        let sums = arena.take::<i32>(2 * tokens)?;
        let mut buffer = Linear::buffer(&mut arena, [&self.gate, &self.up, &self.down])?;
        for rows in stream.chunks_exact_mut((tokens * width).max(1)) {
            for (token, row) in rows.chunks_exact(width.max(1)).enumerate() {
                self.norm.apply(row, &mut inputs, token);
            }
            for first in (0..hidden).step_by(BLOCK) {
                let units = first..hidden.min(first + BLOCK);
                let work = Work { gates, sums, buffer: &mut buffer };
                self.gated(units, curves, &inputs, work, &mut hiddens)?;
            }
            let mut adder = Adder::new(rows, width);
            self.down.each(
                0..width,
                &hiddens,
                sums,
                &mut buffer,
                i32::MAX,
                &mut |channel, ys| {
                    adder.add(channel, ys);
                },
            )?;
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
        work: Work<'_, '_>,
        hiddens: &mut Tile<'_>,
    ) -> Result<(), ModelError> {
        let Work { gates, sums, buffer } = work;
        let limit = hiddens.limit();
        let tokens = inputs.tokens();
        let (left, shift) = self.hidden.shift().widened(GATE_ROOM);
        let first = |unit: usize| (unit - units.start) * tokens;
        self.gate.each(
            units.clone(),
            inputs,
            sums,
            buffer,
            ACTIVATION_LIMIT,
            &mut |unit, ys| {
                curves.silu_each(ys, left, part_mut(gates, first(unit), tokens));
            },
        )?;
        self.up.each(units.clone(), inputs, sums, buffer, UP_LIMIT, &mut |unit, ys| {
            let gates = part_mut(gates, first(unit), tokens);
            multiply(gates, ys, shift, limit);
            hiddens.set_column(unit, gates.iter().map(|&y| y as i16));
        })
    }
}
