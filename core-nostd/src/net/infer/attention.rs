//! Attention: over the squares, and over the single position of the trunk.
use super::{
    arithmetic::{add_to_channel, pair_limit, rescale, rescale_all, saturating_add},
    kernel::{Tile, dots},
    linear::Linear,
    norm::Norm,
    scratch::{Arena, attention_sums},
    softmax,
};
use crate::{
    inputs::SQUARES,
    net::{
        Config,
        kbz::{LayerReader, Matrix, ModelError, Part, Scale},
    },
};

/// Magnitude that keeps the sum of a score and its bias inside 32 bits.
const SCORE_LIMIT: i32 = (1 << 30) - 1;
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
    bias: Option<(&'a [i8], Scale<'a>)>,
    context: Scale<'a>,
    output: Linear<'a>,
    heads: usize,
}

/// One head's vectors.
struct Head<'s> {
    /// `[64, dim]`.
    queries: &'s mut [i16],
    /// `[64, dim]`.
    keys: &'s mut [i16],
    /// `[dim, 64]`: transposed, so that the sum over the keys runs along memory.
    values: &'s mut [i16],
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
        })
    }

    /// Adds to `squares`, `[64, width]`.
    pub fn run(&self, squares: &mut [i16], mut arena: Arena<'_>) -> Result<(), ModelError> {
        let width = self.output.rows();
        let dim = width / self.heads;
        let mut inputs = Tile::take(&mut arena, SQUARES, width)?;
        let mut contexts = Tile::take(&mut arena, SQUARES, width)?;
        let mut head = Head {
            queries: arena.take(SQUARES * dim)?,
            keys: arena.take(SQUARES * dim)?,
            values: arena.take(SQUARES * dim)?,
            dim,
        };
        let sums = arena.take::<i32>(attention_sums(dim))?;
        let scores = arena.take::<i32>(SQUARES)?;
        let probabilities = arena.take::<i16>(SQUARES)?;

        for (square, row) in squares.chunks_exact(width).enumerate() {
            self.norm.apply(row, &mut inputs, square);
        }
        let limit = contexts.limit();
        for number in 0..self.heads {
            self.project(number, &inputs, &mut head, &mut sums[..2 * SQUARES]);
            for query in 0..SQUARES {
                self.scores(number, query, &head, scores);
                softmax::attention(scores, probabilities);
                let sums = &mut sums[..dim];
                dots(probabilities, head.values, sums);
                for (channel, &sum) in (number * dim..).zip(sums.iter()) {
                    let context = self.context.apply(channel, sum, limit);
                    contexts.set(query, channel, context as i16);
                }
            }
        }
        let sums = &mut sums[..2 * SQUARES];
        self.output.each(0..width, &contexts, sums, i32::MAX, |channel, ys| {
            add_to_channel(squares, width, channel, ys);
        });
        Ok(())
    }

    /// Queries, keys and values of head `number`.
    #[inline(never)]
    fn project(&self, number: usize, inputs: &Tile<'_>, head: &mut Head<'_>, sums: &mut [i32]) {
        let dim = head.dim;
        let limit = pair_limit(dim);
        let first = number * dim;
        let rows = || first..first + dim;
        let set = |matrix: &mut [i16], column: usize, ys: &[i32]| {
            for (row, &y) in matrix.chunks_exact_mut(dim).zip(ys) {
                row[column] = y as i16;
            }
        };
        self.query.each(rows(), inputs, sums, limit, |row, ys| set(head.queries, row - first, ys));
        self.key.each(rows(), inputs, sums, limit, |row, ys| set(head.keys, row - first, ys));
        self.value.each(rows(), inputs, sums, STREAM_LIMIT, |row, ys| {
            let values = head.values[(row - first) * SQUARES..].iter_mut();
            values.zip(ys).for_each(|(value, &y)| *value = y as i16);
        });
    }

    /// The binary exponents of one query square against all keys.
    #[inline(never)]
    fn scores(&self, number: usize, query: usize, head: &Head<'_>, scores: &mut [i32]) {
        let vector = &head.queries[query * head.dim..][..head.dim];
        dots(vector, head.keys, scores);
        let scale = self.score;
        rescale_all(scores, 0, scale.multiplier(number), scale.shift(), 0, SCORE_LIMIT);
        if let Some((bias, scale)) = &self.bias {
            let row = number * SQUARES + query;
            let (left, shift) = scale.shift().widened(BIAS_ROOM);
            let multiplier = scale.multiplier(row);
            for (score, &bias) in scores.iter_mut().zip(&bias[row * SQUARES..][..SQUARES]) {
                *score += rescale(i32::from(bias) << left, multiplier, shift, 0, SCORE_LIMIT);
            }
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
    pub fn run(&self, trunk: &mut [i16], mut arena: Arena<'_>) -> Result<(), ModelError> {
        let mut input = Tile::take(&mut arena, 1, trunk.len())?;
        self.norm.apply(trunk, &mut input, 0);
        self.output_value.each_single(0..trunk.len(), &input, i32::MAX, |channel, y| {
            trunk[channel] = saturating_add(trunk[channel], y);
        });
        Ok(())
    }
}
