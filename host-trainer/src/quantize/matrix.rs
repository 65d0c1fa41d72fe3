//! Matrices in double precision, and how they become 8-bit weights.
use super::number::{byte, scale};

/// A row-major matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Dense {
    columns: usize,
    values: Vec<f64>,
}

impl Dense {
    /// A matrix with as many rows as `values` fill.
    pub fn new(columns: usize, values: impl IntoIterator<Item = f64>) -> Dense {
        let values: Vec<f64> = values.into_iter().collect();
        assert!(values.len().is_multiple_of(columns), "the last row is not whole");
        Dense { columns, values }
    }

    /// The rows.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.columns)
    }

    /// Columns.
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// The rows of `self`, then those of `below`.
    pub fn stack(mut self, below: &Dense) -> Dense {
        assert_eq!(self.columns, below.columns);
        self.values.extend(&below.values);
        self
    }

    /// Row r multiplied by `factors[r]`.
    pub fn scale_rows(mut self, factors: impl IntoIterator<Item = f64>) -> Dense {
        for (row, factor) in self.values.chunks_exact_mut(self.columns).zip(factors) {
            row.iter_mut().for_each(|x| *x *= factor);
        }
        self
    }

    /// The matrix product `self · right`.
    pub fn times(&self, right: &Dense) -> Dense {
        let mut values = Vec::with_capacity(self.values.len() / self.columns * right.columns);
        for row in self.rows() {
            let mut out = vec![0.0; right.columns];
            for (&a, line) in row.iter().zip(right.rows()) {
                out.iter_mut().zip(line).for_each(|(y, b)| *y += a * b);
            }
            values.extend(out);
        }
        Dense { columns: right.columns, values }
    }
}

/// 8-bit weights and the scales of their rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantized {
    /// Row-major, in `-127..=127`.
    pub weights: Vec<i8>,
    /// A shift and a multiplier for each row.
    pub scales: Vec<i32>,
}

/// Quantizes `matrix`, whose input channel c counts `input_units[c]` a step and whose output r
/// is to count `output_units[r]` a step.
pub fn quantize(matrix: &Dense, input_units: &[f64], output_units: &[f64]) -> Quantized {
    assert_eq!(matrix.columns, input_units.len());
    let mut weights = Vec::with_capacity(matrix.values.len());
    let mut factors = Vec::with_capacity(output_units.len());
    for (row, output_unit) in matrix.rows().zip(output_units) {
        let scaled: Vec<f64> = row.iter().zip(input_units).map(|(w, unit)| w * unit).collect();
        let unit = scaled.iter().fold(0.0, |most: f64, w| most.max(w.abs())) / 127.0;
        let divisor = if unit > 0.0 { unit } else { 1.0 };
        weights.extend(scaled.iter().map(|&w| byte(w, divisor)));
        factors.push(unit / output_unit);
    }
    assert_eq!(factors.len(), output_units.len());
    Quantized { weights, scales: scale(&factors) }
}
