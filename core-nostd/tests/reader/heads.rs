//! Policy, value, and the moves' probabilities.
use super::{
    file::{Sections, Shape},
    layers::{Bits, Matrix, PREACTIVATION},
    numbers::{Curves, Scale, WORD, dot, pair, power, wide, within},
};

/// The limit of a part of a logit.
const PART: i128 = (1 << 30) - 1;

/// What scores a move.
pub enum Policy {
    Pooled(Pooled),
    FromTo(FromTo),
}

pub struct Pooled {
    matrix: Matrix,
    trunk: Vec<i128>,
}

impl Pooled {
    pub fn read(sections: &mut Sections<'_>, shape: &Shape, trunk: &[i128]) -> Pooled {
        let matrix = Matrix::read(sections, shape, Bits::Large, [4672, shape.width]);
        Pooled { matrix: matrix.with_bias(sections), trunk: trunk.to_vec() }
    }

    pub fn logit(&self, number: usize) -> i128 {
        self.matrix.one(number, &self.trunk, PART)
    }
}

pub struct FromTo {
    /// `[64, 2·P + 9]`.
    channels: Vec<Vec<i128>>,
    scale: Scale,
    dim: usize,
}

impl FromTo {
    pub fn read(
        sections: &mut Sections<'_>,
        shape: &Shape,
        squares: &[Vec<i128>],
        trunk: &[i128],
    ) -> FromTo {
        let dim = shape.policy_dim;
        let sizes = [2 * dim + 9, shape.width];
        let own = Matrix::read(sections, shape, Bits::Eight, sizes);
        let context = Matrix::read(sections, shape, Bits::Eight, sizes).with_bias(sections);
        let scale = Scale::read(sections, 1);
        let context = context.all(trunk, PART);
        let channels = |row: &Vec<i128>| {
            let sums = own.all(row, PART).into_iter().zip(&context).map(|(own, of)| own + of);
            let limited = |(row, x)| if row < 2 * dim { within(x, pair(dim)) } else { x };
            sums.enumerate().map(limited).collect()
        };
        FromTo { channels: squares.iter().map(channels).collect(), scale, dim }
    }

    pub fn logit(&self, number: usize, to: usize) -> i128 {
        let (from, plane) = (number / 73, number % 73);
        let vectors =
            [&self.channels[from][..self.dim], &self.channels[to][self.dim..2 * self.dim]];
        let both = within(self.scale.apply(0, dot(vectors[0], vectors[1])), PART);
        let extra = plane.checked_sub(64).map_or(0, |p| self.channels[from][2 * self.dim + p]);
        within(both + extra, WORD)
    }
}

pub fn value(sections: &mut Sections<'_>, shape: &Shape, curves: &Curves, trunk: &[i128]) -> i128 {
    let half = shape.width / 2;
    let first = Matrix::read(sections, shape, Bits::Eight, [half, shape.width]).with_bias(sections);
    let scale = Scale::read(sections, half);
    let second = Matrix::read(sections, shape, Bits::Eight, [1, half]).with_bias(sections);
    let unit =
        |i| within(scale.apply(i, curves.gelu(first.one(i, trunk, PREACTIVATION))), wide(half));
    let hidden: Vec<_> = (0..half).map(unit).collect();
    curves.tanh(second.one(0, &hidden, WORD))
}

/// The probabilities that follow from the legal moves' logits.
pub fn probabilities(logits: &[i128]) -> Vec<i128> {
    let Some(most) = logits.iter().max() else { return Vec::new() };
    let exponent = |logit: &i128| (((most - logit) * 94_548) >> 16).min(u32::MAX.into());
    let powers: Vec<_> = logits.iter().map(|logit| power(exponent(logit))).collect();
    let sum: i128 = powers.iter().sum();
    powers.iter().map(|power| ((power << 16) + sum / 2) / sum).collect()
}
