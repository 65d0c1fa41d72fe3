//! The squares' stream at its beginning, and its mean at its end.
use super::{scratch::Arena, vectors::vectorized};
use crate::{
    inputs::{AUX, Inputs, TOKENS},
    net::kbz::{Bytes, Halves, LayerReader, Part, Scale},
};

vectorized! {
    /// Adds two vectors to a row of the stream, brought into its range once.
    fn add(row: &mut [i16], parts: [Halves<'_>; 2]) {
        let [piece, place] = parts;
        for ((x, piece), place) in row.iter_mut().zip(piece.iter()).zip(place.iter()) {
            let sum = i32::from(*x) + i32::from(piece) + i32::from(place);
            *x = sum.clamp(-i32::from(i16::MAX), i32::from(i16::MAX)) as i16;
        }
    }
}

/// `stream[s] = piece[token[s]] + square[s] + aux · scalars`.
#[derive(Debug, Clone, Copy)]
pub struct Embedding<'a> {
    piece: Bytes<'a>,
    square: Bytes<'a>,
    aux: Halves<'a>,
    aux_scale: Scale<'a>,
}

impl<'a> Embedding<'a> {
    #[inline(never)] // so that it is written where it lies
    fn read(sections: &mut LayerReader<'_, 'a>) -> Embedding<'a> {
        Embedding {
            piece: sections.bytes(Part::Piece),
            square: sections.bytes(Part::Square),
            aux: sections.halves(Part::Aux),
            aux_scale: sections.scale(Part::AuxScale),
        }
    }

    /// Fills `squares`, `[64, width]`.
    pub fn run(
        sections: &mut LayerReader<'_, 'a>,
        inputs: &Inputs,
        width: usize,
        squares: &mut [i16],
    ) -> Option<()> {
        let layer = Embedding::read(sections);
        layer.fill(inputs, width, squares, sections.finish()?)
    }

    #[inline(never)] // what it needs must not stay on the stack of the other layers
    fn fill(
        &self,
        inputs: &Inputs,
        width: usize,
        squares: &mut [i16],
        mut arena: Arena<'_>,
    ) -> Option<()> {
        let row_bytes = width * size_of::<i16>();
        let piece_buffer = arena.take(self.piece.buffer(row_bytes));
        let square_buffer = arena.take(self.square.buffer(row_bytes));
        let faults = arena.faults();
        arena.outcome()?;
        let (first, others) = squares.split_at_mut_checked(width)?;
        for (channel, scalars) in first.iter_mut().enumerate() {
            let weights = self.aux.row(channel, AUX).iter();
            let sum = weights.zip(inputs.aux).map(|(w, x)| i32::from(w) * i32::from(x)).sum();
            *scalars = self.aux_scale.apply(0, sum, i32::from(i16::MAX)) as i16;
        }
        for row in others.chunks_exact_mut(width.max(1)) {
            row.iter_mut().zip(&*first).for_each(|(x, &scalars)| *x = scalars);
        }
        let row = |row: usize| row * row_bytes..(row + 1) * row_bytes;
        let rows = squares.chunks_exact_mut(width.max(1)).zip(inputs.tokens);
        for (square, (stream, token)) in rows.enumerate() {
            let token = usize::from(token).min(TOKENS - 1);
            let piece = self.piece.read(row(token), piece_buffer, faults)?;
            let place = self.square.read(row(square), square_buffer, faults)?;
            add(stream, [Halves::of(piece), Halves::of(place)]);
        }
        Some(())
    }
}

/// The mean over the normalized squares, in units of the trunk's stream.
#[derive(Debug, Clone, Copy)]
pub struct Pool<'a> {
    scale: Scale<'a>,
}

impl<'a> Pool<'a> {
    #[inline(never)] // so that it is written where it lies
    fn read(sections: &mut LayerReader<'_, 'a>) -> Pool<'a> {
        Pool { scale: sections.scale(Part::PoolScale) }
    }

    /// Reads `squares`, `[64, width]`, and fills `trunk`, `[width]`.
    pub fn run(
        sections: &mut LayerReader<'_, 'a>,
        squares: &[i16],
        trunk: &mut [i16],
    ) -> Option<()> {
        let layer = Pool::read(sections);
        sections.finish()?;
        layer.fill(squares, trunk);
        Some(())
    }

    #[inline(never)] // what it needs must not stay on the stack of the other layers
    fn fill(&self, squares: &[i16], trunk: &mut [i16]) {
        let width = trunk.len().max(1);
        for (channel, out) in trunk.iter_mut().enumerate() {
            let rows = squares.chunks_exact(width);
            let sum = rows.map(|row| row.get(channel).map_or(0, |&x| i32::from(x))).sum();
            *out = self.scale.apply(channel, sum, i32::from(i16::MAX)) as i16;
        }
    }
}
