//! The gated feed-forward layer.
use core::ops::Range;

#[cfg(kernels = "x86")]
use super::curves::ACTIVATION_LIMIT;
#[cfg(any(kernels = "dsp", kernels = "x86"))]
use super::kernel;
#[cfg(not(kernels = "dsp"))]
use super::vectors::vectorized;
use super::{
    adder::Adder,
    arithmetic::{Shift, rescale},
    curves::Curves,
    kernel::{Tile, WORD_TOKENS, Width, words},
    linear::{BLOCK, Linear, Sums},
    norm::Norm,
    parts::part_mut,
    scratch::{Arena, TILE},
    weights::{Buffer, buffer_words},
};
use crate::{
    inputs::SQUARES,
    net::{
        Place,
        kbz::{InputBits, LayerReader, Matrix, Part, Scale},
    },
};

/// Bits above a gate's: |silu(x)| ≤ |x| ≤ [`ACTIVATION_LIMIT`] = 2^19.
const GATE_ROOM: u32 = 11;
/// Magnitude that the up projection's outputs should keep, so that no product with a gate is lost
/// to saturation.
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
    inputs: InputBits,
}

/// Numbers of squares that may pass together, the fastest first.
const TOGETHER: &[usize] = match cfg!(kernels = "armv6m") {
    true => &[WORD_TOKENS],
    false => &[SQUARES, SQUARES / 2, SQUARES / 4],
};

/// What a block of hidden units is computed in.
struct Work<'w, 's> {
    gates: &'w mut [i32],
    sums: &'w mut [i32],
    buffer: &'w mut Buffer<'s>,
}

#[cfg(not(kernels = "dsp"))]
vectorized! {
    /// Hidden activations: the product of gates and `ys`, rescaled, in the gates' place.
    fn multiply(gates: &mut [i32], ys: &[i32], shift: Shift, limit: i32) {
        for (gate, &y) in gates.iter_mut().zip(ys) {
            *gate = rescale(*gate, y, shift, 0, limit);
        }
    }
}

impl<'a> FeedForward<'a> {
    #[inline(never)] // so that it is written where it lies
    fn read(sections: &mut LayerReader<'_, 'a>, place: Place) -> FeedForward<'a> {
        FeedForward {
            norm: Norm::read(sections),
            gate: sections.linear(Matrix::Gate),
            up: sections.linear(Matrix::Up),
            hidden: sections.scale(Part::HiddenShift),
            down: sections.linear(Matrix::down(place)),
            inputs: sections.inputs(),
        }
    }

    /// Squares that pass together: as many as there is room for, where more are faster.
    fn tokens(&self, arena: &Arena<'_>) -> usize {
        let (width, hidden) = (self.down.rows(), self.gate.rows());
        let [inputs, hiddens] = self.widths(SQUARES);
        let fits = |tokens: &usize| {
            let tiles = words(*tokens, width, inputs) + words(*tokens, hidden, hiddens);
            tiles + (BLOCK + 2) * tokens + buffer_words(hidden.max(width)) <= arena.free()
        };
        TOGETHER.iter().copied().find(fits).unwrap_or(TILE)
    }

    /// How wide the inputs and the hidden units are, of so many squares at a time.
    const fn widths(&self, tokens: usize) -> [Width; 2] {
        match tokens {
            1 => [Width::Single; 2],
            _ => [self.inputs.normed(), self.inputs.unnormed()],
        }
    }

    /// Adds to `stream`, `[rows, width]`: the squares' or the trunk's, as the layer's place is.
    pub fn run(
        sections: &mut LayerReader<'_, 'a>,
        place: Place,
        curves: &Curves<'_>,
        stream: &mut [i16],
    ) -> Option<()> {
        let layer = FeedForward::read(sections, place);
        let arena = sections.finish()?;
        let tokens = if place.on_squares() { layer.tokens(&arena) } else { 1 };
        layer.add(curves, stream, tokens, arena)
    }

    /// `tokens` rows at a time.
    #[inline(never)] // what it needs must not stay on the stack of the other layers
    fn add(
        &self,
        curves: &Curves<'_>,
        stream: &mut [i16],
        tokens: usize,
        mut arena: Arena<'_>,
    ) -> Option<()> {
        let (width, hidden) = (self.down.rows(), self.gate.rows());
        let widths = self.widths(tokens);
        let mut inputs = Tile::take(&mut arena, tokens, width, widths[0]);
        let mut hiddens = Tile::take(&mut arena, tokens, hidden, widths[1]);
        let gates = arena.take::<i32>(BLOCK * tokens);
        let sums = arena.take::<i32>(2 * tokens);
        let mut buffer = Linear::buffer(&mut arena, &[&self.gate, &self.up, &self.down]);
        arena.outcome()?;
        for rows in stream.chunks_exact_mut((tokens * width).max(1)) {
            self.norm.apply_all(rows, &mut inputs);
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
                &mut |channel: usize, sums: &mut Sums<'_>| adder.add(channel, sums),
            )?;
        }
        Some(())
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
    ) -> Option<()> {
        let Work { gates, sums, buffer } = work;
        let tokens = inputs.tokens();
        #[cfg(kernels = "x86")]
        if tokens == 1 {
            return self.gated_single(units, curves, inputs, buffer, hiddens);
        }
        let (left, shift) = self.hidden.shift().left_as_well(GATE_ROOM);
        let first = |unit: usize| (unit - units.start) * tokens;
        self.gate.each(
            units.clone(),
            inputs,
            sums,
            buffer,
            &mut |unit: usize, sums: &mut Sums<'_>| {
                curves.silu_of(sums, left, part_mut(gates, first(unit), tokens));
            },
        )?;
        self.up.each(
            units.clone(),
            inputs,
            sums,
            buffer,
            &mut |unit: usize, sums: &mut Sums<'_>| {
                gate(part_mut(gates, first(unit), tokens), sums, shift, hiddens, unit);
            },
        )
    }
}

/// As [`FeedForward::gated`] for one token, whose units fill a vector.
#[cfg(kernels = "x86")]
impl FeedForward<'_> {
    fn gated_single(
        &self,
        units: Range<usize>,
        curves: &Curves<'_>,
        inputs: &Tile<'_>,
        buffer: &mut Buffer<'_>,
        hiddens: &mut Tile<'_>,
    ) -> Option<()> {
        let [mut gates, mut silus, mut ups] = [[0; BLOCK]; 3];
        let (left, shift) = self.hidden.shift().left_as_well(GATE_ROOM);
        let first = units.start;
        self.gate.each_single(
            units.clone(),
            inputs,
            buffer,
            ACTIVATION_LIMIT,
            &mut |unit: usize, y: i32| {
                gates[unit - first] = y;
            },
        )?;
        curves.silu_each(&gates, left, &mut silus);
        self.up.each_single(
            units.clone(),
            inputs,
            buffer,
            i32::MAX,
            &mut |unit: usize, y: i32| {
                ups[unit - first] = y;
            },
        )?;
        multiply(&mut silus, &ups, shift, hiddens.limit());
        for (unit, y) in units.zip(silus) {
            hiddens.set(0, unit, y as i16);
        }
        Some(())
    }
}

/// Sets `unit` of every token to the product of its gate and its up projection, shifted and within
/// the tile's limit. The gates are overwritten.
pub fn gate(
    gates: &mut [i32],
    sums: &mut Sums<'_>,
    shift: Shift,
    hiddens: &mut Tile<'_>,
    unit: usize,
) {
    #[cfg(any(kernels = "dsp", kernels = "x86"))]
    if let Some((sums, rescaling)) = sums.rescaling()
        && kernel::hidden(gates, sums, &rescaling, shift, hiddens, unit)
    {
        return;
    }
    #[cfg(kernels = "dsp")]
    {
        let limit = hiddens.limit();
        for (token, (&gate, &y)) in gates.iter().zip(sums.within(i32::MAX)).enumerate() {
            hiddens.set(token, unit, rescale(gate, y, shift, 0, limit) as i16);
        }
    }
    #[cfg(not(kernels = "dsp"))]
    {
        multiply(gates, sums.within(i32::MAX), shift, hiddens.limit());
        hiddens.set_column(unit, gates.iter().map(|&y| y as i16));
    }
}
