//! Matrices with 8-bit weights and one scale an output channel.
use super::kernel::{Activation, dot_rows};
use crate::net::kbz::{Scale, Words};

/// A matrix `[rows, columns]` whose row r turns inputs x into `(Σ w·x) · scale[r] + bias[r]`.
#[derive(Debug, Clone, Copy)]
pub struct Linear<'a> {
    weights: &'a [i8],
    columns: usize,
    scales: Scale<'a>,
    bias: Option<Words<'a>>,
}

impl<'a> Linear<'a> {
    /// The weights are row-major; the scales say how many rows there are.
    pub fn new(weights: &'a [i8], scales: Scale<'a>) -> Linear<'a> {
        let columns = weights.len().checked_div(scales.len()).unwrap_or(0);
        Linear { weights, columns, scales, bias: None }
    }

    /// The same matrix with biases, in units of its outputs.
    pub fn with_bias(self, bias: Words<'a>) -> Linear<'a> {
        Linear { bias: Some(bias), ..self }
    }

    /// Output channels.
    pub fn rows(&self) -> usize {
        self.scales.len()
    }

    fn weights(&self, row: usize) -> &'a [i8] {
        &self.weights[row * self.columns..][..self.columns]
    }

    fn output(&self, row: usize, sum: i32) -> i64 {
        let bias = self.bias.map_or(0, |bias| bias.get(row));
        self.scales.apply(row, sum) + i64::from(bias)
    }

    /// Output `row` for one row of inputs.
    pub fn one<T: Activation>(&self, row: usize, inputs: &[T]) -> i64 {
        self.output(row, T::dot(self.weights(row), inputs))
    }

    /// Output `row` for each row of `inputs`, `[sums.len(), columns]`, handed to `emit` with the
    /// input row's number.
    pub fn each<T: Activation>(
        &self,
        row: usize,
        inputs: &[T],
        sums: &mut [i32],
        mut emit: impl FnMut(usize, i64),
    ) {
        dot_rows(self.weights(row), inputs, sums);
        for (input, &sum) in sums.iter().enumerate() {
            emit(input, self.output(row, sum));
        }
    }
}
