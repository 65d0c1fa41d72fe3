//! Attention: over the squares, and over the single position of the trunk.
#[cfg(kernels = "x86")]
mod all_queries;

#[cfg(kernels = "dsp")]
use super::kernel::{self, Exponents, Rescaling};
use super::{
    adder::{Adder, add_to},
    arithmetic::{Shift, pair_limit, rescale, rescale_all},
    faults::Faults,
    kernel::{Factors, Rows, Tile, Width},
    linear::{Linear, Sums},
    norm::Norm,
    parts::{part, part_mut},
    scratch::{Arena, attention_sums},
    vectors::vectorized,
    weights::Buffer,
};
#[cfg(not(kernels = "dsp"))]
use super::{arithmetic::rescale_each, softmax};
use crate::{
    inputs::SQUARES,
    net::{
        Config,
        kbz::{Bytes, InputBits, LayerReader, Matrix, Part, Scale},
    },
};

/// Magnitude that keeps the sum of a score and its bias inside 32 bits.
const SCORE_LIMIT: i32 = (1 << 30) - 1;
/// Channels of a context that are rescaled together.
#[cfg(not(kernels = "dsp"))]
const CHANNELS: usize = 64;
/// Bits above a bias of 8.
const BIAS_ROOM: u32 = 24;

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
    inputs: InputBits,
}

/// One head's vectors.
struct Head<'s> {
    /// `[64, dim]`.
    queries: Factors<'s>,
    /// `[64, dim]`.
    keys: Rows<'s>,
    /// `[dim, 64]`: transposed, so that the sum over the keys runs along memory.
    values: Rows<'s>,
    dim: usize,
}

impl<'a> SquareAttention<'a> {
    #[inline(never)] // so that it is written where it lies
    fn read(sections: &mut LayerReader<'_, 'a>, config: &Config) -> SquareAttention<'a> {
        SquareAttention {
            norm: Norm::read(sections),
            query: sections.linear(Matrix::Query),
            key: sections.linear(Matrix::Key),
            value: sections.linear(Matrix::Value),
            score: sections.scale(Part::ScoreScale),
            bias: match config.attention_bias {
                true => Some((
                    sections.bytes(Part::AttentionBias),
                    sections.scale(Part::AttentionBiasScale),
                )),
                false => None,
            },
            context: sections.scale(Part::ContextScale),
            output: sections.linear(Matrix::Output),
            heads: config.heads as usize,
            inputs: sections.inputs(),
        }
    }

    /// Adds to `squares`, `[64, width]`.
    pub fn run(
        sections: &mut LayerReader<'_, 'a>,
        config: &Config,
        squares: &mut [i16],
    ) -> Option<()> {
        let layer = SquareAttention::read(sections, config);
        layer.add(squares, sections.finish()?)
    }

    #[inline(never)] // what it needs must not stay on the stack of the other layers
    fn add(&self, squares: &mut [i16], mut arena: Arena<'_>) -> Option<()> {
        #[cfg(kernels = "x86")]
        if let Some(shifts) = self.shifts_of_all_queries() {
            return self.add_all_queries(shifts, squares, arena);
        }
        let width = self.output.rows();
        let dim = width.checked_div(self.heads).unwrap_or(0);
        let mut inputs = Tile::take(&mut arena, SQUARES, width, self.inputs.normed());
        let mut contexts = Tile::take(&mut arena, SQUARES, width, self.inputs.unnormed());
        let mut head = Head {
            queries: Factors::take(&mut arena, SQUARES, dim),
            keys: Rows::take(&mut arena, SQUARES, dim),
            values: Rows::take(&mut arena, dim, SQUARES),
            dim,
        };
        let mut probabilities = Factors::take(&mut arena, 2, SQUARES);
        let sums = arena.take::<i32>(attention_sums(dim));
        let matrices = [&self.query, &self.key, &self.value, &self.output];
        let mut buffer = Linear::buffer(&mut arena, &matrices);
        let faults = arena.faults();
        arena.outcome()?;

        self.norm.apply_all(squares, &mut inputs);
        for number in 0..self.heads {
            let pair = part_mut(sums, 0, 2 * SQUARES);
            self.project(number, &inputs, &mut head, pair, &mut buffer)?;
            for query in (0..SQUARES).step_by(2) {
                self.probabilities(number, query, &head, sums, &mut probabilities, faults)?;
                let stride = head.values.stride();
                let sums = part_mut(sums, 0, 2 * stride);
                head.values.dots(&probabilities, 0, sums);
                for (query, sums) in (query..).zip(sums.chunks_exact(stride.max(1))) {
                    let (first, shift) = (number * dim, self.context.shift());
                    let multipliers = self.context.multipliers(first);
                    let sums = part(sums, 0, dim);
                    rescale_context(sums, multipliers, shift, &mut contexts, query, first);
                }
            }
        }
        self.add_output(&contexts, squares, part_mut(sums, 0, 2 * SQUARES), &mut buffer)
    }

    /// Adds what the contexts come to.
    fn add_output(
        &self,
        contexts: &Tile<'_>,
        squares: &mut [i16],
        sums: &mut [i32],
        buffer: &mut Buffer<'_>,
    ) -> Option<()> {
        let width = self.output.rows();
        let mut adder = Adder::new(squares, width);
        self.output.each(
            0..width,
            contexts,
            sums,
            buffer,
            &mut |channel: usize, sums: &mut Sums<'_>| {
                adder.add(channel, sums);
            },
        )
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
    ) -> Option<()> {
        let dim = head.dim;
        let limit = pair_limit(dim);
        let first = number * dim;
        let rows = || first..first + dim;
        self.query.each(rows(), inputs, sums, buffer, &mut |row: usize, sums: &mut Sums<'_>| {
            sums.fill_column(&mut head.queries, row - first, limit);
        })?;
        self.key.each(rows(), inputs, sums, buffer, &mut |row: usize, sums: &mut Sums<'_>| {
            sums.fill_column(&mut head.keys, row - first, limit);
        })?;
        self.value.each(rows(), inputs, sums, buffer, &mut |row: usize, sums: &mut Sums<'_>| {
            sums.fill_row(&mut head.values, row - first);
        })
    }

    /// The attention of two query squares, `query` and the next, to all squares.
    #[inline(never)]
    fn probabilities(
        &self,
        number: usize,
        query: usize,
        head: &Head<'_>,
        sums: &mut [i32],
        probabilities: &mut Factors<'_>,
        faults: Option<&Faults>,
    ) -> Option<()> {
        let sums = part_mut(sums, 0, 2 * SQUARES);
        head.keys.dots(&head.queries, query, sums);
        for (row, scores) in sums.as_chunks_mut::<SQUARES>().0.iter_mut().enumerate() {
            let mut buffer = [0; SQUARES];
            let bias = self.bias(number, query + row, &mut buffer, faults)?;
            let scale = (self.score.multiplier(number), self.score.shift());
            attend(scores, scale, bias, probabilities, row);
        }
        Some(())
    }

    /// The biases of a query square's scores.
    fn bias<'b>(
        &self,
        number: usize,
        query: usize,
        buffer: &'b mut [u8; SQUARES],
        faults: Option<&Faults>,
    ) -> Option<Option<Bias<'b>>>
    where
        'a: 'b,
    {
        let Some((bias, scale)) = &self.bias else { return Some(None) };
        let row = number * SQUARES + query;
        let bytes = bias.read(row * SQUARES..(row + 1) * SQUARES, buffer, faults)?;
        let (multiplier, shift) = (scale.multiplier(row), scale.shift());
        let row = bytemuck::cast_slice(bytes).first_chunk();
        Some(row.map(|row| Bias { row, multiplier, shift }))
    }
}

/// Sets the context of one query square in the channels from `first` on, whose multipliers these
/// are.
#[inline(never)] // its room on the stack need not be the whole layer's
pub fn rescale_context(
    sums: &[i32],
    multipliers: &[[u8; 4]],
    shift: Shift,
    contexts: &mut Tile<'_>,
    query: usize,
    first: usize,
) {
    #[cfg(kernels = "dsp")]
    {
        let done = kernel::store_each(contexts, query, first, sums, multipliers, shift);
        let limit = contexts.limit();
        for i in done..sums.len() {
            let (Some(&sum), Some(&multiplier)) = (sums.get(i), multipliers.get(i)) else { break };
            let y = rescale(sum, i32::from_le_bytes(multiplier), shift, 0, limit);
            contexts.set(query, first + i, y as i16);
        }
    }
    #[cfg(not(kernels = "dsp"))]
    {
        let mut outputs = [0; CHANNELS];
        let chunks = sums.chunks(CHANNELS).zip(multipliers.chunks(CHANNELS));
        for (first, (sums, multipliers)) in (first..).step_by(CHANNELS).zip(chunks) {
            let outputs = &mut outputs[..sums.len()];
            rescale_each(sums, multipliers, shift, contexts.limit(), outputs);
            contexts.set_row(query, first, outputs);
        }
    }
}

/// Biases of a query square's scores.
pub struct Bias<'b> {
    pub row: &'b [i8; SQUARES],
    pub multiplier: i32,
    pub shift: Shift,
}

/// Turns a query's scores into probabilities, in a row of `probabilities`. The scores are
/// overwritten.
pub fn attend(
    scores: &mut [i32; SQUARES],
    scale: (i32, Shift),
    bias: Option<Bias<'_>>,
    probabilities: &mut Factors<'_>,
    row: usize,
) {
    #[cfg(kernels = "dsp")]
    if let Some(exponents) = exponents_of(scale, &bias)
        && kernel::attention(scores, &exponents, probabilities, row)
    {
        return;
    }
    rescale_all(scores, 0, scale.0, scale.1, 0, SCORE_LIMIT);
    if let Some(Bias { row, multiplier, shift }) = bias {
        add_bias(scores, row, multiplier, shift);
    }
    #[cfg(kernels = "dsp")]
    kernel::attention_of_exponents(scores, probabilities, row);
    #[cfg(not(kernels = "dsp"))]
    {
        let mut attention = [0; SQUARES];
        softmax::attention(scores, &mut attention);
        probabilities.set_row(row, attention.into_iter());
    }
}

/// The same as assembly reads it.
#[cfg(kernels = "dsp")]
fn exponents_of<'b>(
    (multiplier, shift): (i32, Shift),
    bias: &Option<Bias<'b>>,
) -> Option<Exponents<'b>> {
    let score = Rescaling::new(multiplier, shift, 0)?;
    let Some(Bias { row, multiplier, shift }) = bias else {
        return Some(Exponents::of_scores(score));
    };
    let bias = Rescaling::new(*multiplier, *shift, BIAS_ROOM)?;
    Some(Exponents { biases: row, score, bias })
}

vectorized! {
    /// Adds a row of biases to scores.
    fn add_bias(scores: &mut [i32; SQUARES], bias: &[i8; SQUARES], multiplier: i32, shift: Shift) {
        let (left, shift) = shift.widened(BIAS_ROOM);
        for (score, &bias) in scores.iter_mut().zip(bias) {
            let bias = i32::from(bias);
            // Where the compiler knows that the lower half is zero, two of four products go.
            let known = cfg!(kernels = "armv6m") && left == BIAS_ROOM;
            let bias = bias << if known { BIAS_ROOM } else { left };
            *score += rescale(bias, multiplier, shift, 0, SCORE_LIMIT);
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
    #[inline(never)] // so that it is written where it lies
    fn read(sections: &mut LayerReader<'_, 'a>) -> TrunkAttention<'a> {
        TrunkAttention {
            norm: Norm::read(sections),
            output_value: sections.linear(Matrix::OutputValue),
        }
    }

    /// Adds to `trunk`, `[width]`.
    pub fn run(sections: &mut LayerReader<'_, 'a>, trunk: &mut [i16]) -> Option<()> {
        let layer = TrunkAttention::read(sections);
        layer.add(trunk, sections.finish()?)
    }

    #[inline(never)] // what it needs must not stay on the stack of the other layers
    fn add(&self, trunk: &mut [i16], mut arena: Arena<'_>) -> Option<()> {
        let mut input = Tile::take(&mut arena, 1, trunk.len(), Width::Single);
        let mut buffer = Linear::buffer(&mut arena, &[&self.output_value]);
        arena.outcome()?;
        self.norm.apply(trunk, &mut input, 0);
        let channels = 0..trunk.len();
        self.output_value.each_single(
            channels,
            &input,
            &mut buffer,
            i32::MAX,
            &mut |channel: usize, y: i32| {
                add_to(trunk, channel, y);
            },
        )
    }
}
