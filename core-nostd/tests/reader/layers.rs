//! Matrices, and the layers that work on the streams.
use super::{
    Inputs,
    file::{Sections, Shape},
    numbers::{
        Curves, Norm, STREAM, Scale, WORD, dot, pair, power, rescaled, shifted, wide, within,
    },
};

/// A row a square, or a single one.
type Stream = Vec<Vec<i128>>;

/// Bits of a matrix's weights.
#[derive(Clone, Copy)]
pub enum Bits {
    Eight,
    /// Four where the file has them.
    Large,
}

/// Weights by rows, scales, biases.
pub struct Matrix {
    weights: Vec<Vec<i128>>,
    scales: Scale,
    bias: Vec<i128>,
}

impl Matrix {
    pub fn read(
        sections: &mut Sections<'_>,
        shape: &Shape,
        bits: Bits,
        [rows, columns]: [usize; 2],
    ) -> Matrix {
        let groups = columns.div_ceil(4);
        let weights = match bits {
            Bits::Large if shape.nibbles => nibbles(sections, rows, columns, groups),
            _ => {
                let bytes = sections.bytes(rows.div_ceil(2) * groups * 8);
                let weight = |r: usize, c: usize| {
                    let at = 8 * (groups * (r / 2) + c / 4) + 4 * (r % 2) + [0, 2, 1, 3][c % 4];
                    i128::from(bytes[at] as i8)
                };
                by_rows(rows, columns, weight)
            }
        };
        Matrix { weights, scales: Scale::read(sections, rows), bias: vec![0; rows] }
    }

    pub fn with_bias(self, sections: &mut Sections<'_>) -> Matrix {
        let bias = sections.words(self.weights.len());
        Matrix { bias, ..self }
    }

    /// Output `row`, within ±limit.
    pub fn one(&self, row: usize, inputs: &[i128], limit: i128) -> i128 {
        let y = self.scales.apply(row, dot(&self.weights[row], inputs));
        within(y + self.bias[row], limit)
    }

    /// All outputs.
    pub fn all(&self, inputs: &[i128], limit: i128) -> Vec<i128> {
        (0..self.weights.len()).map(|row| self.one(row, inputs, limit)).collect()
    }

    /// Adds the outputs to a stream's row.
    fn add_to(&self, row: &mut [i128], inputs: &[i128]) {
        for (x, y) in row.iter_mut().zip(self.all(inputs, WORD)) {
            *x = within(*x + y, STREAM);
        }
    }
}

fn by_rows(rows: usize, columns: usize, weight: impl Fn(usize, usize) -> i128) -> Vec<Vec<i128>> {
    (0..rows).map(|r| (0..columns).map(|c| weight(r, c)).collect()).collect()
}

/// Weights of 4 bits.
fn nibbles(
    sections: &mut Sections<'_>,
    rows: usize,
    columns: usize,
    groups: usize,
) -> Vec<Vec<i128>> {
    let pair_bytes = groups * 4 + groups.div_ceil(4).next_multiple_of(4);
    let bytes = sections.bytes(rows.div_ceil(2) * pair_bytes);
    by_rows(rows, columns, |r, c| {
        let pair = &bytes[r / 2 * pair_bytes..][..pair_bytes];
        let half = |byte: u8| i128::from(if r % 2 == 0 { byte & 15 } else { byte >> 4 });
        let nibble = half(pair[c / 4 * 4 + [0, 2, 1, 3][c % 4]]);
        (nibble - 8) * half(pair[groups * 4 + c / 16])
    })
}

pub fn embedding(sections: &mut Sections<'_>, shape: &Shape, inputs: &Inputs) -> Stream {
    let d = shape.width;
    let [pieces, squares] = [13, 64].map(|rows| sections.halves(rows * d));
    let scalars = sections.halves(d * 7);
    let scale = Scale::read(sections, 1);
    let channel = |square: usize, c: usize| {
        let scalars = within(scale.apply(0, dot(&scalars[c * 7..][..7], &inputs.scalars)), STREAM);
        within(pieces[inputs.tokens[square] * d + c] + squares[square * d + c] + scalars, STREAM)
    };
    (0..64).map(|square| (0..d).map(|c| channel(square, c)).collect()).collect()
}

/// Probabilities of binary exponents.
fn softmax(exponents: &[i128]) -> Vec<i128> {
    let most = exponents.iter().max().unwrap();
    let powers: Vec<_> = exponents.iter().map(|e| power(most - e) >> 6).collect();
    let reciprocal = (1 << 54) / powers.iter().sum::<i128>();
    powers.iter().map(|power| shifted(power * reciprocal, 39).min(STREAM)).collect()
}

pub fn attention(sections: &mut Sections<'_>, shape: &Shape, stream: &mut Stream) {
    let (d, heads, half) = (shape.width, shape.heads, (1 << 30) - 1);
    let dim = d / heads;
    let norm = Norm::read(sections, d);
    let query = Matrix::read(sections, shape, Bits::Eight, [d, d]);
    let key = Matrix::read(sections, shape, Bits::Eight, [d, d]);
    let value = Matrix::read(sections, shape, Bits::Large, [d, d]);
    let score = Scale::read(sections, heads);
    let bias = shape.attention_bias.then(|| {
        let bias = sections.bytes(heads * 64 * 64).to_vec();
        (bias, Scale::read(sections, heads * 64))
    });
    let context = Scale::read(sections, d);
    let output = Matrix::read(sections, shape, Bits::Large, [d, d]);

    let (limit, context_limit) = (shape.squares_input(d, true), shape.squares_input(d, false));
    let inputs: Stream = stream.iter().map(|row| norm.apply(row, limit)).collect();
    let of = |matrix: &Matrix, limit| -> Stream {
        inputs.iter().map(|row| matrix.all(row, limit)).collect()
    };
    let (queries, keys) = (of(&query, pair(dim)), of(&key, pair(dim)));
    let values = of(&value, STREAM);
    for (square, row) in stream.iter_mut().enumerate() {
        let mut contexts = vec![0; d];
        for head in 0..heads {
            let channels = head * dim..(head + 1) * dim;
            let exponent = |other: usize| {
                let sum = dot(&queries[square][channels.clone()], &keys[other][channels.clone()]);
                let own = within(score.apply(head, sum), half);
                let bias = bias.as_ref().map_or(0, |(bias, scale)| {
                    let row = head * 64 + square;
                    within(scale.apply(row, i128::from(bias[row * 64 + other] as i8)), half)
                });
                own + bias
            };
            let probabilities = softmax(&(0..64).map(exponent).collect::<Vec<_>>());
            for c in channels {
                let column: Vec<_> = values.iter().map(|row| row[c]).collect();
                contexts[c] = within(context.apply(c, dot(&probabilities, &column)), context_limit);
            }
        }
        output.add_to(row, &contexts);
    }
}

pub fn trunk_attention(sections: &mut Sections<'_>, shape: &Shape, row: &mut [i128]) {
    let norm = Norm::read(sections, shape.width);
    let matrix = Matrix::read(sections, shape, Bits::Large, [shape.width; 2]);
    let inputs = norm.apply(row, shape.wide());
    matrix.add_to(row, &inputs);
}

/// The limit of a preactivation: ±128 in 2^-12.
pub const PREACTIVATION: i128 = 1 << 19;

pub fn feed_forward(
    sections: &mut Sections<'_>,
    shape: &Shape,
    curves: &Curves,
    stream: &mut Stream,
    mult: usize,
    on_squares: bool,
) {
    let (d, h) = (shape.width, mult * shape.width);
    let norm = Norm::read(sections, d);
    let gate = Matrix::read(sections, shape, Bits::Large, [h, d]);
    let up = Matrix::read(sections, shape, Bits::Large, [h, d]);
    let shift = Scale::read(sections, 0).shift;
    let bits = if on_squares { Bits::Eight } else { Bits::Large };
    let down = Matrix::read(sections, shape, bits, [d, h]);
    let limit = |columns, normed| match on_squares {
        true => shape.squares_input(columns, normed),
        false => wide(columns),
    };
    for row in stream {
        let inputs = norm.apply(row, limit(d, true));
        let hidden = |unit| {
            let gate = curves.silu(gate.one(unit, &inputs, PREACTIVATION));
            within(rescaled(gate, up.one(unit, &inputs, WORD), shift), limit(h, false))
        };
        down.add_to(row, &(0..h).map(hidden).collect::<Vec<_>>());
    }
}

pub fn state_space(sections: &mut Sections<'_>, shape: &Shape, curves: &Curves, row: &mut [i128]) {
    let (d, inner, r, n) = (shape.width, shape.inner(), shape.ssm_rank, shape.ssm_state);
    let norm = Norm::read(sections, d);
    let in_proj = Matrix::read(sections, shape, Bits::Large, [2 * inner, d]).with_bias(sections);
    let u_scale = Scale::read(sections, inner);
    let x_proj = Matrix::read(sections, shape, Bits::Eight, [r + 2 * n, inner]);
    let state_scale = Scale::read(sections, 1);
    let step_proj = Matrix::read(sections, shape, Bits::Eight, [inner, r]).with_bias(sections);
    let skip = sections.words(inner);
    let output_scale = Scale::read(sections, inner);
    let out_proj = Matrix::read(sections, shape, Bits::Large, [d, inner]);

    let inputs = norm.apply(row, wide(d));
    let both: Vec<_> =
        in_proj.all(&inputs, PREACTIVATION).into_iter().map(|x| curves.silu(x)).collect();
    let (u, z) = both.split_at(inner);
    let scaled = |(channel, &u)| within(u_scale.apply(channel, u), wide(inner));
    let activations: Vec<_> = u.iter().enumerate().map(scaled).collect();
    let part = |rows: std::ops::Range<usize>, limit| -> Vec<_> {
        rows.map(|row| x_proj.one(row, &activations, limit)).collect()
    };
    let step = part(0..r, wide(r));
    let (b, c) = (part(r..r + n, pair(n)), part(r + n..r + 2 * n, pair(n)));
    let most = (1 << 27) - 1;
    let state = within(state_scale.apply(0, dot(&b, &c)), most);
    let product = |x, y, limit| within(rescaled(x, y, 12), limit);
    let channel = |i: usize| {
        let step = curves.softplus(step_proj.one(i, &step, PREACTIVATION));
        let factor = within(product(step, state, most) + skip[i], most);
        let gated = product(product(u[i], factor, WORD), z[i], WORD);
        within(output_scale.apply(i, gated), wide(inner))
    };
    out_proj.add_to(row, &(0..inner).map(channel).collect::<Vec<_>>());
}

pub fn pool(sections: &mut Sections<'_>, squares: &Stream) -> Vec<i128> {
    let width = squares[0].len();
    let scale = Scale::read(sections, width);
    let sum = |c: usize| squares.iter().map(|row| row[c]).sum::<i128>();
    (0..width).map(|c| within(scale.apply(c, sum(c)), STREAM)).collect()
}
