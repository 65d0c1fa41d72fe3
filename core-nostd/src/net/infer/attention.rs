//! Attention: over the squares, and over the single position of the trunk.
use super::{
    adder::{Adder, add_to},
    arithmetic::{Shift, pair_limit, rescale, rescale_each},
    kernel::{Rows, Tile, Width},
    linear::Linear,
    norm::Norm,
    parts::{part, part_mut},
    scratch::{Arena, attention_sums},
    softmax,
    vectors::vectorized,
    weights::Buffer,
};
use crate::{
    inputs::SQUARES,
    net::{
        Config,
        kbz::{Bytes, LayerReader, Matrix, ModelError, Part, Scale},
    },
};

/// Magnitude that keeps the sum of a score and its bias inside 32 bits.
const SCORE_LIMIT: i32 = (1 << 30) - 1;
/// Channels of a context that are rescaled together.
const CHANNELS: usize = 64;
/// Bits above a bias of 8.
const BIAS_ROOM: u32 = 24;
const STREAM_LIMIT: i32 = i16::MAX as i32;

/// `squares += output(attention(norm(squares)))`.
#[derive(Debug, Clone, Copy)]
pub struct SquareAttention<'a> {
    norm: Norm<'a>,
    query: Linear<'a>,
    key: Linear<'a>,
    value: Linear<'a>,
    score: Scale<'a>,
    bias: Option<(Bytes<'a>, Scale<'a>)>,
    context: Scale<'a>,
    output: Linear<'a>,
    heads: usize,
    inputs: Width,
}

/// One head's vectors.
struct Head<'s> {
    /// `[64, dim]`.
    queries: &'s mut [i16],
    /// `[64, dim]`.
    keys: Rows<'s>,
    /// `[dim, 64]`: transposed, so that the sum over the keys runs along memory.
    values: Rows<'s>,
    dim: usize,
}

impl<'a> SquareAttention<'a> {
    pub fn read(
        sections: &mut LayerReader<'_, 'a>,
        config: &Config,
    ) -> Result<SquareAttention<'a>, ModelError> {
        Ok(SquareAttention {
            norm: Norm::read(sections)?,
            query: sections.linear(Matrix::Query)?,
            key: sections.linear(Matrix::Key)?,
            value: sections.linear(Matrix::Value)?,
            score: sections.scale(Part::ScoreScale)?,
            bias: match config.attention_bias {
                true => Some((
                    sections.bytes(Part::AttentionBias)?,
                    sections.scale(Part::AttentionBiasScale)?,
                )),
                false => None,
            },
            context: sections.scale(Part::ContextScale)?,
            output: sections.linear(Matrix::Output)?,
            heads: config.heads as usize,
            inputs: sections.inputs(),
        })
    }

    /// Adds to `squares`, `[64, width]`.
    #[inline(never)] // what it needs must not stay on the stack of the other layers
    pub fn run(&self, squares: &mut [i16], mut arena: Arena<'_>) -> Result<(), ModelError> {
        let width = self.output.rows();
        let dim = width.checked_div(self.heads).unwrap_or(0);
        let mut inputs = Tile::take(&mut arena, SQUARES, width, self.inputs)?;
        let mut contexts = Tile::take(&mut arena, SQUARES, width, self.inputs)?;
        let mut head = Head {
            queries: arena.take(SQUARES * dim)?,
            keys: Rows::take(&mut arena, SQUARES, dim)?,
            values: Rows::take(&mut arena, dim, SQUARES)?,
            dim,
        };
        let sums = arena.take::<i32>(attention_sums(dim))?;
        let scores = arena.array::<i32, SQUARES>()?;
        let probabilities = arena.array::<i16, SQUARES>()?;
        let matrices = [&self.query, &self.key, &self.value, &self.output];
        let mut buffer = Linear::buffer(&mut arena, matrices)?;

        for (square, row) in squares.chunks_exact(width.max(1)).enumerate() {
            self.norm.apply(row, &mut inputs, square);
        }
        for number in 0..self.heads {
            let pair = part_mut(sums, 0, 2 * SQUARES);
            self.project(number, &inputs, &mut head, pair, &mut buffer)?;
            for query in 0..SQUARES {
                self.scores(number, query, &head, scores)?;
                softmax::attention(scores, probabilities);
                let sums = part_mut(sums, 0, dim);
                head.values.dots(probabilities, sums);
                self.rescale_context(number * dim, sums, query, &mut contexts);
            }
        }
        let sums = part_mut(sums, 0, 2 * SQUARES);
        let mut adder = Adder::new(squares, width);
        self.output.each(0..width, &contexts, sums, &mut buffer, i32::MAX, &mut |channel, ys| {
            adder.add(channel, ys);
        })
    }

    /// Queries, keys and values of head `number`.
    #[inline(never)]
    fn project(
        &self,
        number: usize,
        inputs: &Tile<'_>,
        head: &mut Head<'_>,
        sums: &mut [i32],
        buffer: &mut Buffer<'_>,
    ) -> Result<(), ModelError> {
        let dim = head.dim;
        let limit = pair_limit(dim);
        let first = number * dim;
        let rows = || first..first + dim;
        self.query.each(rows(), inputs, sums, buffer, limit, &mut |row, ys| {
            let from_row = head.queries.iter_mut().skip(row - first);
            from_row.step_by(dim.max(1)).zip(ys).for_each(|(query, &y)| *query = y as i16);
        })?;
        let keys = &mut head.keys;
        self.key.each(rows(), inputs, sums, buffer, limit, &mut |row, ys| {
            keys.set_column(row - first, ys);
        })?;
        let values = &mut head.values;
        self.value.each(rows(), inputs, sums, buffer, STREAM_LIMIT, &mut |row, ys| {
            values.set_row(row - first, ys);
        })
    }

    /// Sets the context of one query square in the channels from `first` on.
    fn rescale_context(&self, first: usize, sums: &[i32], query: usize, contexts: &mut Tile<'_>) {
        let mut outputs = [0; CHANNELS];
        for (first, sums) in (first..).step_by(CHANNELS).zip(sums.chunks(CHANNELS)) {
            let outputs = &mut outputs[..sums.len()];
            let multipliers = self.context.multipliers(first);
            rescale_each(sums, multipliers, self.context.shift(), contexts.limit(), outputs);
            contexts.set_row(query, first, outputs);
        }
    }

    /// The binary exponents of one query square against all keys.
    #[inline(never)]
    fn scores(
        &self,
        number: usize,
        query: usize,
        head: &Head<'_>,
        scores: &mut [i32; SQUARES],
    ) -> Result<(), ModelError> {
        let vector = part(head.queries, query * head.dim, head.dim);
        head.keys.dots(vector, scores);
        let scale = self.score;
        rescale_scores(scores, scale.multiplier(number), scale.shift());
        if let Some((bias, scale)) = &self.bias {
            let row = number * SQUARES + query;
            let mut buffer = [0; SQUARES];
            let bias = bias.get(row * SQUARES..(row + 1) * SQUARES, &mut buffer)?;
            if let Some(bias) = bytemuck::cast_slice(bias).first_chunk() {
                add_bias(scores, bias, scale.multiplier(row), scale.shift());
            }
        }
        Ok(())
    }
}

vectorized! {
    /// Rescales a row of scores.
    fn rescale_scores(scores: &mut [i32; SQUARES], multiplier: i32, shift: Shift) {
        for score in scores {
            *score = rescale(*score, multiplier, shift, 0, SCORE_LIMIT);
        }
    }
}

vectorized! {
    /// Adds a row of biases to scores.
    fn add_bias(scores: &mut [i32; SQUARES], bias: &[i8; SQUARES], multiplier: i32, shift: Shift) {
        let (left, shift) = shift.widened(BIAS_ROOM);
        for (score, &bias) in scores.iter_mut().zip(bias) {
            *score += rescale(i32::from(bias) << left, multiplier, shift, 0, SCORE_LIMIT);
        }
    }
}

/// `trunk += output(value(norm(trunk)))`: over one position every probability is 1.
#[derive(Debug, Clone, Copy)]
pub struct TrunkAttention<'a> {
    norm: Norm<'a>,
    output_value: Linear<'a>,
}

impl<'a> TrunkAttention<'a> {
    pub fn read(sections: &mut LayerReader<'_, 'a>) -> Result<TrunkAttention<'a>, ModelError> {
        Ok(TrunkAttention {
            norm: Norm::read(sections)?,
            output_value: sections.linear(Matrix::OutputValue)?,
        })
    }

    /// Adds to `trunk`, `[width]`.
    #[inline(never)] // what it needs must not stay on the stack of the other layers
    pub fn run(&self, trunk: &mut [i16], mut arena: Arena<'_>) -> Result<(), ModelError> {
        let mut input = Tile::take(&mut arena, 1, trunk.len(), Width::Single)?;
        let mut buffer = Linear::buffer(&mut arena, [&self.output_value])?;
        self.norm.apply(trunk, &mut input, 0);
        let channels = 0..trunk.len();
        self.output_value.each_single(channels, &input, &mut buffer, i32::MAX, &mut |channel, y| {
            add_to(trunk, channel, y);
        })
    }
}
