//! The value head.
use super::{
    arithmetic::{saturate, saturate_i16},
    curves::{ACTIVATION_LIMIT, Curves},
    kernel::Activation,
    linear::Linear,
    scratch::Arena,
};
use crate::net::kbz::{LayerReader, Matrix, ModelError, Part, Scale};

/// `tanh(value2(gelu(value1(trunk))))`.
#[derive(Debug, Clone, Copy)]
pub struct Value<'a> {
    hidden: Linear<'a>,
    hidden_scale: Scale<'a>,
    output: Linear<'a>,
}

impl<'a> Value<'a> {
    pub fn read(sections: &mut LayerReader<'_, 'a>) -> Result<Value<'a>, ModelError> {
        Ok(Value {
            hidden: sections.linear_with_bias(Matrix::Value1)?,
            hidden_scale: sections.scale(Part::ValueHiddenScale)?,
            output: sections.linear_with_bias(Matrix::Value2)?,
        })
    }

    /// The value of the normalized trunk, `[width]`, in
    /// [`VALUE_FRACTION`](super::VALUE_FRACTION) bits.
    pub fn run(
        &self,
        curves: &Curves<'_>,
        trunk: &[i16],
        mut arena: Arena<'_>,
    ) -> Result<i16, ModelError> {
        let hidden = arena.take::<i16>(self.hidden.rows())?;
        let limit = <i16 as Activation>::limit(hidden.len());
        for (unit, out) in hidden.iter_mut().enumerate() {
            let x = curves.gelu(saturate(self.hidden.one(unit, trunk), ACTIVATION_LIMIT));
            *out = saturate_i16(self.hidden_scale.apply(unit, x), limit);
        }
        Ok(curves.tanh(saturate(self.output.one(0, hidden), i32::MAX)))
    }
}
