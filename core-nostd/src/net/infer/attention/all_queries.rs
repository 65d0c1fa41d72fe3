//! Attention of all queries side by side, where there are vectors for it.
use super::{BIAS_ROOM, SquareAttention};
use crate::{
    inputs::SQUARES,
    net::infer::{
        arithmetic::pair_limit,
        kernel::{
            AllBiases, AllExponents, AllNumbers, AllProbabilities, Factors, Rescaling, Rows, Tile,
            contexts, probabilities,
        },
        linear::{Linear, Sums},
        scratch::Arena,
        weights::Buffer,
    },
};

/// Rows of values that are multiplied together.
const TOGETHER: usize = 4;

/// One head's vectors.
struct Head<'s> {
    /// `[64, dim]`.
    queries: Rows<'s>,
    /// `[64, dim]`.
    keys: Rows<'s>,
    /// `[dim, 64]`.
    values: Factors<'s>,
    numbers: AllNumbers,
    probabilities: AllProbabilities,
    dim: usize,
}

/// The shifts of the scores and of their biases, with multipliers still to come. They are found
/// once for all heads: another thread may limit the vectors meanwhile.
#[derive(Clone, Copy)]
pub struct Shifts {
    score: Rescaling,
    /// None, where there are no biases.
    bias: Option<Rescaling>,
}

impl SquareAttention<'_> {
    /// If there are vectors for it, and every shift is one of those that they do.
    pub fn shifts_of_all_queries(&self) -> Option<Shifts> {
        let score = Rescaling::new(0, self.score.shift(), 0)?;
        let bias = match self.bias {
            Some((bytes, _)) if !bytes.are_here() => return None,
            Some((_, scale)) => Some(Rescaling::new(0, scale.shift(), BIAS_ROOM)?),
            None => None,
        };
        Some(Shifts { score, bias })
    }

    /// [`SquareAttention::run`] by [`SquareAttention::shifts_of_all_queries`].
    #[inline(never)]
    pub fn add_all_queries(
        &self,
        shifts: Shifts,
        squares: &mut [i16],
        mut arena: Arena<'_>,
    ) -> Option<()> {
        let width = self.output.rows();
        let dim = width.checked_div(self.heads).unwrap_or(0);
        let mut inputs = Tile::take(&mut arena, SQUARES, width, self.inputs.normed());
        let mut contexts = Tile::take(&mut arena, SQUARES, width, self.inputs.unnormed());
        let mut head = Head {
            queries: Rows::take(&mut arena, SQUARES, dim),
            keys: Rows::take(&mut arena, SQUARES, dim),
            values: Factors::take(&mut arena, dim, SQUARES),
            numbers: [[0; SQUARES]; SQUARES],
            probabilities: [[0; SQUARES]; SQUARES / 2],
            dim,
        };
        let sums = arena.take::<i32>(2 * SQUARES);
        let matrices = [&self.query, &self.key, &self.value, &self.output];
        let mut buffer = Linear::buffer(&mut arena, &matrices);
        arena.outcome()?;

        self.norm.apply_all(squares, &mut inputs);
        for number in 0..self.heads {
            let exponents = self.exponents(number, shifts)?;
            self.project_rows(number, &inputs, &mut head, sums, &mut buffer)?;
            let (queries, keys) = (&head.queries, &head.keys);
            let (numbers, words) = (&mut head.numbers, &mut head.probabilities);
            probabilities(queries, keys, &exponents, numbers, words);
            self.contexts_of(number, &head, &mut contexts);
        }
        self.add_output(&contexts, squares, sums, &mut buffer)
    }

    /// Queries, keys and values of head `number`.
    fn project_rows(
        &self,
        number: usize,
        inputs: &Tile<'_>,
        head: &mut Head<'_>,
        sums: &mut [i32],
        buffer: &mut Buffer<'_>,
    ) -> Option<()> {
        let limit = pair_limit(head.dim);
        let first = number * head.dim;
        let rows = || first..first + head.dim;
        for (matrix, vectors) in [(&self.query, &mut head.queries), (&self.key, &mut head.keys)] {
            matrix.each(rows(), inputs, sums, buffer, &mut |row: usize, sums: &mut Sums<'_>| {
                sums.fill_column(vectors, row - first, limit);
            })?;
        }
        self.value.each(rows(), inputs, sums, buffer, &mut |row: usize, sums: &mut Sums<'_>| {
            let values = head.values.row_mut(row - first).iter_mut();
            values.zip(sums.within(i16::MAX.into())).for_each(|(value, &y)| *value = y as i16);
        })
    }

    /// What makes exponents of a head's scores.
    fn exponents(&self, number: usize, shifts: Shifts) -> Option<AllExponents<'_>> {
        let score = shifts.score.with_multiplier(self.score.multiplier(number));
        let (Some((bytes, scale)), Some(rescaling)) = (self.bias, shifts.bias) else {
            return Some(AllExponents { score, biases: None });
        };
        const BIASES: usize = SQUARES * SQUARES;
        let bytes = bytes.read(number * BIASES..(number + 1) * BIASES, &mut [], None)?;
        let bytes = bytemuck::cast_slice(bytes).first_chunk()?;
        let multipliers = scale.multipliers(number * SQUARES).first_chunk()?;
        let biases = Some(AllBiases { bytes, rescaling, multipliers });
        Some(AllExponents { score, biases })
    }

    /// Sets a head's contexts.
    fn contexts_of(&self, number: usize, head: &Head<'_>, tile: &mut Tile<'_>) {
        let (first, limit) = (number * head.dim, tile.limit());
        for start in (0..head.dim).step_by(TOGETHER) {
            // Of rows that are not there, nothing is used.
            let row = |i: usize| head.values.row((start + i).min(head.dim - 1));
            let mut sums = contexts([row(0), row(1), row(2), row(3)], &head.probabilities);
            for (channel, sums) in (start..head.dim).zip(&mut sums) {
                let scale = (self.context.multiplier(first + channel), self.context.shift());
                Sums::new(sums, 0, scale).fill_column(tile, first + channel, limit);
            }
        }
    }
}
