//! The squares' stream at its beginning, and its mean at its end.
use super::arithmetic::saturate_i16;
use crate::{
    inputs::{AUX, Inputs, SQUARES, TOKENS},
    net::kbz::{Halves, LayerReader, ModelError, Part, Scale},
};

/// `stream[s] = piece[token[s]] + square[s] + aux · scalars`.
#[derive(Debug, Clone, Copy)]
pub struct Embedding<'a> {
    piece: Halves<'a>,
    square: Halves<'a>,
    aux: Halves<'a>,
    aux_scale: Scale<'a>,
}

impl<'a> Embedding<'a> {
    pub fn read(sections: &mut LayerReader<'_, 'a>) -> Result<Embedding<'a>, ModelError> {
        Ok(Embedding {
            piece: sections.halves(Part::Piece)?,
            square: sections.halves(Part::Square)?,
            aux: sections.halves(Part::Aux)?,
            aux_scale: sections.scale(Part::AuxScale)?,
        })
    }

    /// Fills `squares`, `[64, width]`.
    pub fn run(&self, inputs: &Inputs, width: usize, squares: &mut [i16]) {
        for channel in 0..width {
            let weights = self.aux.row(channel, AUX).iter();
            let sum = weights.zip(inputs.aux).map(|(w, x)| i32::from(w) * i32::from(x)).sum();
            let scalars = self.aux_scale.apply(0, sum, i32::from(i16::MAX));
            for (square, &token) in inputs.tokens.iter().enumerate() {
                let token = usize::from(token).min(TOKENS - 1);
                let piece = self.piece.get(token * width + channel);
                let place = self.square.get(square * width + channel);
                let sum = i64::from(scalars) + i64::from(piece) + i64::from(place);
                squares[square * width + channel] = saturate_i16(sum, i32::from(i16::MAX));
            }
        }
    }
}

/// The mean over the normalized squares, in units of the trunk's stream.
#[derive(Debug, Clone, Copy)]
pub struct Pool<'a> {
    scale: Scale<'a>,
}

impl<'a> Pool<'a> {
    pub fn read(sections: &mut LayerReader<'_, 'a>) -> Result<Pool<'a>, ModelError> {
        Ok(Pool { scale: sections.scale(Part::PoolScale)? })
    }

    /// Reads `squares`, `[64, width]`, and fills `trunk`, `[width]`.
    pub fn run(&self, squares: &[i16], trunk: &mut [i16]) {
        let width = trunk.len();
        for (channel, out) in trunk.iter_mut().enumerate() {
            let column = squares.iter().skip(channel).step_by(width);
            let sum = column.take(SQUARES).map(|&x| i32::from(x)).sum();
            *out = self.scale.apply(channel, sum, i32::from(i16::MAX)) as i16;
        }
    }
}
