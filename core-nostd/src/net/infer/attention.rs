//! Attention: over the squares, and over the single position of the trunk.
use super::{
    arithmetic::{pair_limit, saturate, saturate_i16},
    kernel::{Activation, dot_pairs},
    linear::Linear,
    norm::Norm,
    scratch::Arena,
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
        let inputs = arena.take::<i8>(SQUARES * width)?;
        let contexts = arena.take::<i8>(SQUARES * width)?;
        let mut head = Head {
            queries: arena.take(SQUARES * dim)?,
            keys: arena.take(SQUARES * dim)?,
            values: arena.take(SQUARES * dim)?,
            dim,
        };
        let sums = arena.take::<i32>(SQUARES)?;
        let scores = arena.take::<i32>(SQUARES)?;
        let probabilities = arena.take::<i16>(SQUARES)?;

        for (row, out) in squares.chunks_exact(width).zip(inputs.chunks_exact_mut(width)) {
            self.norm.apply(row, out);
        }
        for number in 0..self.heads {
            self.project(number, inputs, &mut head, sums);
            for query in 0..SQUARES {
                self.scores(number, query, &head, scores);
                softmax::attention(scores, probabilities);
                let first = number * dim;
                let context = &mut contexts[query * width + first..][..dim];
                for (channel, out) in context.iter_mut().enumerate() {
                    let values = &head.values[channel * SQUARES..][..SQUARES];
                    let sum = dot_pairs(probabilities, values);
                    let context = self.context.apply(first + channel, sum);
                    *out = <i8 as Activation>::saturate(context, i8::limit(width));
                }
            }
        }
        for channel in 0..width {
            self.output.each(channel, contexts, sums, |square, y| {
                let x = &mut squares[square * width + channel];
                *x = saturate_i16(i64::from(*x) + y, STREAM_LIMIT);
            });
        }
        Ok(())
    }

    /// Queries, keys and values of head `number`.
    fn project(&self, number: usize, inputs: &[i8], head: &mut Head<'_>, sums: &mut [i32]) {
        let dim = head.dim;
        let limit = pair_limit(dim);
        for channel in 0..dim {
            let row = number * dim + channel;
            self.query.each(row, inputs, sums, |square, y| {
                head.queries[square * dim + channel] = saturate_i16(y, limit);
            });
            self.key.each(row, inputs, sums, |square, y| {
                head.keys[square * dim + channel] = saturate_i16(y, limit);
            });
            self.value.each(row, inputs, sums, |square, y| {
                head.values[channel * SQUARES + square] = saturate_i16(y, STREAM_LIMIT);
            });
        }
    }

    /// The binary exponents of one query square against all keys.
    fn scores(&self, number: usize, query: usize, head: &Head<'_>, scores: &mut [i32]) {
        let vector = &head.queries[query * head.dim..][..head.dim];
        for (score, key) in scores.iter_mut().zip(head.keys.chunks_exact(head.dim)) {
            *score = saturate(self.score.apply(number, dot_pairs(vector, key)), SCORE_LIMIT);
        }
        if let Some((bias, scale)) = &self.bias {
            let row = number * SQUARES + query;
            for (score, &bias) in scores.iter_mut().zip(&bias[row * SQUARES..][..SQUARES]) {
                *score += saturate(scale.apply(row, i32::from(bias)), SCORE_LIMIT);
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
        let input = arena.take::<i16>(trunk.len())?;
        self.norm.apply(trunk, input);
        for (channel, x) in trunk.iter_mut().enumerate() {
            let sum = i64::from(*x) + self.output_value.one(channel, input);
            *x = saturate_i16(sum, STREAM_LIMIT);
        }
        Ok(())
    }
}
