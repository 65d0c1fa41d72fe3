//! The gated feed-forward layer.
use super::{
    arithmetic::{round_shift, saturate, saturate_i16},
    curves::{ACTIVATION_LIMIT, Curves},
    kernel::Activation,
    linear::Linear,
    norm::Norm,
    scratch::Arena,
};
use crate::net::kbz::{LayerReader, Matrix, ModelError, Part, Scale};

const STREAM_LIMIT: i32 = i16::MAX as i32;
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

    /// Adds to `stream`, `[rows, width]`, `tile` rows at a time.
    pub fn run<T: Activation>(
        &self,
        curves: &Curves<'_>,
        stream: &mut [i16],
        tile: usize,
        mut arena: Arena<'_>,
    ) -> Result<(), ModelError> {
        let (width, hidden) = (self.down.rows(), self.gate.rows());
        let inputs = arena.take::<T>(tile * width)?;
        let hiddens = arena.take::<T>(tile * hidden)?;
        let gates = arena.take::<i32>(tile)?;
        let sums = arena.take::<i32>(tile)?;
        for rows in stream.chunks_exact_mut(tile * width) {
            for (row, input) in rows.chunks_exact(width).zip(inputs.chunks_exact_mut(width)) {
                self.norm.apply(row, input);
            }
            for unit in 0..hidden {
                self.gated(unit, curves, inputs, gates, sums, |row, h| {
                    hiddens[row * hidden + unit] = h;
                });
            }
            for channel in 0..width {
                self.down.each(channel, hiddens, sums, |row, y| {
                    let x = &mut rows[row * width + channel];
                    *x = saturate_i16(i64::from(*x) + y, STREAM_LIMIT);
                });
            }
        }
        Ok(())
    }

    /// Hidden unit `unit` of every row, handed to `emit` with the row's number.
    fn gated<T: Activation>(
        &self,
        unit: usize,
        curves: &Curves<'_>,
        inputs: &[T],
        gates: &mut [i32],
        sums: &mut [i32],
        mut emit: impl FnMut(usize, T),
    ) {
        let limit = T::limit(self.gate.rows());
        self.gate.each(unit, inputs, sums, |row, y| {
            gates[row] = curves.silu(saturate(y, ACTIVATION_LIMIT));
        });
        self.up.each(unit, inputs, sums, |row, y| {
            let product = i64::from(gates[row]) * i64::from(saturate(y, UP_LIMIT));
            emit(row, T::saturate(round_shift(product, self.hidden.shift()), limit));
        });
    }
}
