//! Logits of the legal moves.
use super::{
    arithmetic::{pair_limit, saturate, saturate_i16},
    kernel::{Tile, Width, dot},
    linear::Linear,
    output::Scored,
    parts::{part, part_mut},
    scratch::Arena,
    weights::Buffer,
};
use crate::{
    inputs::SQUARES,
    net::{
        Config,
        kbz::{LayerReader, Matrix, Part, Scale},
    },
};

/// Magnitude of a part of a logit, in 16 fraction bits: two parts stay inside 32 bits.
const LOGIT_LIMIT: i32 = (1 << 30) - 1;

/// One row of weights a move index.
#[derive(Debug, Clone, Copy)]
pub struct PooledPolicy<'a> {
    policy: Linear<'a>,
}

impl<'a> PooledPolicy<'a> {
    #[inline(never)] // so that it is written where it lies
    fn read(sections: &mut LayerReader<'_, 'a>) -> PooledPolicy<'a> {
        PooledPolicy { policy: sections.linear_with_bias(Matrix::Policy) }
    }

    /// Scores `moves` from the normalized trunk, `[width]`.
    pub fn run(
        sections: &mut LayerReader<'_, 'a>,
        trunk: &[i16],
        moves: &mut dyn Scored,
    ) -> Option<()> {
        let layer = PooledPolicy::read(sections);
        layer.score(trunk, moves, sections.finish()?)
    }

    #[inline(never)] // what it needs must not stay on the stack of the other layers
    fn score(&self, trunk: &[i16], moves: &mut dyn Scored, mut arena: Arena<'_>) -> Option<()> {
        let mut input = Tile::take(&mut arena, 1, trunk.len(), Width::Single);
        let mut buffer = Linear::buffer(&mut arena, &[&self.policy]);
        arena.outcome()?;
        input.load(trunk);
        let mut outcome = Some(());
        moves.each(&mut |index, logit| match self.policy.one(
            index.to_usize(),
            &input,
            &mut buffer,
            LOGIT_LIMIT,
        ) {
            Some(y) => *logit = y,
            None => outcome = None,
        });
        outcome
    }
}

/// Which vectors are wanted: of which squares, and where their rows of the matrix begin.
struct Wanted {
    squares: [bool; SQUARES],
    /// 0 for the from vectors, the vectors' width for the to vectors.
    first: usize,
}

/// `from[s] · to[t]`, both linear in the square and the trunk.
#[derive(Debug, Clone, Copy)]
pub struct FromToPolicy<'a> {
    squares: Linear<'a>,
    context: Linear<'a>,
    pair: Scale<'a>,
    dim: usize,
}

impl<'a> FromToPolicy<'a> {
    #[inline(never)] // so that it is written where it lies
    fn read(sections: &mut LayerReader<'_, 'a>, config: &Config) -> FromToPolicy<'a> {
        FromToPolicy {
            squares: sections.linear(Matrix::Squares),
            context: sections.linear_with_bias(Matrix::Context),
            pair: sections.scale(Part::PairScale),
            dim: config.policy_dim as usize,
        }
    }

    /// The vectors that are wanted: each its square's own part, of a normalized row `[width]`, and
    /// the trunk's.
    fn vectors(
        &self,
        wanted: Wanted,
        squares: &[i16],
        context: &[i32],
        input: &mut Tile<'_>,
        buffer: &mut Buffer<'_>,
        vectors: &mut [i16],
    ) -> Option<()> {
        let width = squares.len() / SQUARES;
        let limit = pair_limit(self.dim);
        let first = wanted.first;
        for (square, _) in wanted.squares.iter().enumerate().filter(|wanted| *wanted.1) {
            input.load(part(squares, square * width, width));
            let vector = part_mut(vectors, square * self.dim, self.dim);
            let rows = first..first + self.dim;
            self.squares.each_single(
                rows,
                input,
                buffer,
                LOGIT_LIMIT,
                &mut |row: usize, y: i32| {
                    let (x, context) = (vector.get_mut(row - first), context.get(row));
                    if let (Some(x), Some(context)) = (x, context) {
                        *x = saturate_i16(i64::from(y + context), limit);
                    }
                },
            )?;
        }
        Some(())
    }

    /// Scores `moves` from the normalized squares, `[64, width]`, and the normalized trunk. A
    /// move off the board gets the least logit.
    pub fn run(
        sections: &mut LayerReader<'_, 'a>,
        config: &Config,
        squares: &[i16],
        trunk: &[i16],
        moves: &mut dyn Scored,
    ) -> Option<()> {
        let layer = FromToPolicy::read(sections, config);
        layer.score(squares, trunk, moves, sections.finish()?)
    }

    #[inline(never)] // what it needs must not stay on the stack of the other layers
    fn score(
        &self,
        squares: &[i16],
        trunk: &[i16],
        moves: &mut dyn Scored,
        mut arena: Arena<'_>,
    ) -> Option<()> {
        let dim = self.dim;
        let context = arena.take::<i32>(self.context.rows());
        let from = arena.take::<i16>(SQUARES * dim);
        let to = arena.take::<i16>(SQUARES * dim);
        let mut input = Tile::take(&mut arena, 1, trunk.len(), Width::Single);
        let mut buffer = Linear::buffer(&mut arena, &[&self.squares, &self.context]);
        arena.outcome()?;
        let buffer = &mut buffer;
        input.load(trunk);
        let rows = 0..self.context.rows();
        self.context.each_single(
            rows,
            &input,
            buffer,
            LOGIT_LIMIT,
            &mut |row: usize, y: i32| {
                if let Some(context) = context.get_mut(row) {
                    *context = y;
                }
            },
        )?;
        let [mut origins, mut targets] = [[false; SQUARES]; 2];
        moves.each(&mut |index, _| {
            // Both are below 64 in any case.
            origins[index.origin() % SQUARES] = true;
            if let Some(target) = index.target() {
                targets[target % SQUARES] = true;
            }
        });
        self.vectors(
            Wanted { squares: origins, first: 0 },
            squares,
            context,
            &mut input,
            buffer,
            from,
        )?;
        self.vectors(
            Wanted { squares: targets, first: dim },
            squares,
            context,
            &mut input,
            buffer,
            to,
        )?;
        let mut outcome = Some(());
        moves.each(&mut |index, logit| {
            let origin = index.origin();
            let Some(target) = index.target() else {
                *logit = -i32::MAX;
                return;
            };
            let sum = dot(part(from, origin * dim, dim), part(to, target * dim, dim));
            let pair = self.pair.apply(0, sum, LOGIT_LIMIT);
            let mut extra = 0;
            if let Some(plane) = index.underpromotion() {
                let row = 2 * dim + plane;
                input.load(part(squares, origin * trunk.len(), trunk.len()));
                match self.squares.one(row, &input, buffer, LOGIT_LIMIT) {
                    Some(own) => extra = own + context.get(row).unwrap_or(&0),
                    None => outcome = None,
                }
            }
            *logit = saturate(i64::from(pair) + i64::from(extra), i32::MAX);
        });
        outcome
    }
}
