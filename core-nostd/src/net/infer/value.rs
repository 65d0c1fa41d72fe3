//! The value head.
use super::{
    curves::{ACTIVATION_LIMIT, Curves},
    kernel::{Tile, Width},
    linear::Linear,
    scratch::Arena,
};
use crate::net::kbz::{LayerReader, Matrix, Part, Scale};

/// `tanh(value2(gelu(value1(trunk))))`.
#[derive(Debug, Clone, Copy)]
pub struct Value<'a> {
    hidden: Linear<'a>,
    hidden_scale: Scale<'a>,
    output: Linear<'a>,
}

impl<'a> Value<'a> {
    #[inline(never)] // so that it is written where it lies
    fn read(sections: &mut LayerReader<'_, 'a>) -> Value<'a> {
        Value {
            hidden: sections.linear_with_bias(Matrix::Value1),
            hidden_scale: sections.scale(Part::ValueHiddenScale),
            output: sections.linear_with_bias(Matrix::Value2),
        }
    }

    /// The value of the normalized trunk, `[width]`, in
    /// [`VALUE_FRACTION`](super::VALUE_FRACTION) bits.
    pub fn run(
        sections: &mut LayerReader<'_, 'a>,
        curves: &Curves<'_>,
        trunk: &[i16],
    ) -> Option<i16> {
        let layer = Value::read(sections);
        layer.of(curves, trunk, sections.finish()?)
    }

    #[inline(never)] // what it needs must not stay on the stack of the other layers
    fn of(&self, curves: &Curves<'_>, trunk: &[i16], mut arena: Arena<'_>) -> Option<i16> {
        let units = self.hidden.rows();
        let mut input = Tile::take(&mut arena, 1, trunk.len(), Width::Single);
        let mut hidden = Tile::take(&mut arena, 1, units, Width::Single);
        let mut buffer = Linear::buffer(&mut arena, &[&self.hidden, &self.output]);
        arena.outcome()?;
        input.load(trunk);
        let limit = hidden.limit();
        self.hidden.each_single(
            0..units,
            &input,
            &mut buffer,
            ACTIVATION_LIMIT,
            &mut |unit: usize, y: i32| {
                let x = self.hidden_scale.apply(unit, curves.gelu(y), limit);
                hidden.set(0, unit, x as i16);
            },
        )?;
        Some(curves.tanh(self.output.one(0, &hidden, &mut buffer, i32::MAX)?))
    }
}
