//! Matrices in double precision, and how they become 8-bit weights.
use kibitzer_core::net::{WeightBits, kbz::Layout};
use rayon::prelude::*;

use super::{
    nibbles,
    number::scale,
    rounding::{Metric, nearest_byte},
};

/// Largest weight of a row that keeps its size, as a share of the largest: the one that leaves
/// the least error is taken.
const CLIPS: [f64; 5] = [1.0, 0.95, 0.9, 0.85, 0.8];

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

/// The magnitude of each column in `matrices`: the largest weight, in units of its row's root mean
/// square.
///
/// # Panics
/// If the matrices have different columns, or there is none.
pub fn largest_weights(matrices: &[Dense]) -> Vec<f64> {
    let mut largest = vec![0.0f64; matrices[0].columns];
    for row in matrices.iter().flat_map(Dense::rows) {
        assert_eq!(row.len(), largest.len());
        let power = row.iter().map(|w| w * w).sum::<f64>() / row.len() as f64;
        let unit = power.sqrt().max(f64::MIN_POSITIVE);
        largest.iter_mut().zip(row).for_each(|(most, w)| *most = most.max(w.abs() / unit));
    }
    largest
}

/// A matrix's weights and the scales of its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantized {
    /// The weights as they lie in the file.
    pub packed: Vec<i8>,
    /// A shift and a multiplier for each row.
    pub scales: Vec<i32>,
}

/// The file's order of row-major weights.
fn packed(weights: &[Vec<i8>], columns: usize) -> Vec<i8> {
    let layout = Layout::new(weights.len(), columns);
    let mut packed = vec![0; layout.bytes()];
    for (row, weights) in weights.iter().enumerate() {
        for (column, &weight) in weights.iter().enumerate() {
            packed[layout.index(row, column)] = weight;
        }
    }
    packed
}

/// The inputs of a matrix.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// What a step of each channel counts.
    pub units: Vec<f64>,
    /// What calibration saw of them, in steps.
    pub metric: Metric,
    /// Steps from zero to the end of the range.
    pub limit: f64,
}

/// Quantizes `matrix`, whose output r is to count `output_units[r]` a step.
pub fn quantize(
    matrix: &Dense,
    inputs: &Inputs,
    output_units: &[f64],
    bits: WeightBits,
) -> Quantized {
    assert_eq!(matrix.columns, inputs.units.len());
    let rows: Vec<&[f64]> = matrix.rows().collect();
    assert_eq!(rows.len(), output_units.len());
    let in_steps = |row: &[f64]| -> Vec<f64> {
        row.iter().zip(&inputs.units).map(|(w, unit)| w * unit).collect()
    };
    let (packed, units): (_, Vec<f64>) = match bits {
        WeightBits::Eight => {
            let bytes = rows.par_iter().map(|row| quantize_row(&in_steps(row), &inputs.metric));
            let (weights, units): (Vec<_>, _) = bytes.unzip();
            (packed(&weights, matrix.columns), units)
        }
        WeightBits::Four => {
            let nibbles =
                rows.par_iter().map(|row| nibbles::Row::new(&in_steps(row), &inputs.metric));
            let rows: Vec<nibbles::Row> = nibbles.collect();
            let units = rows.iter().map(|row| row.unit).collect();
            (nibbles::packed(&rows, matrix.columns), units)
        }
    };
    let factors = units.iter().zip(output_units).map(|(unit, output)| unit / output);
    Quantized { packed, scales: scale(&factors.collect::<Vec<_>>()) }
}

/// A row's weights and what a step of their sum counts.
fn quantize_row(steps: &[f64], metric: &Metric) -> (Vec<i8>, f64) {
    let most = steps.iter().fold(0.0, |most: f64, w| most.max(w.abs()));
    if most == 0.0 {
        return (vec![0; steps.len()], 0.0);
    }
    let candidates = CLIPS.iter().map(|clip| {
        let unit = most * clip / 127.0;
        let weights: Vec<f64> = steps.iter().map(|w| w / unit).collect();
        let (rounded, error) = metric.round(&weights, nearest_byte);
        (rounded, unit, error * unit * unit)
    });
    let best = candidates.min_by(|a, b| a.2.total_cmp(&b.2));
    best.map(|(rounded, unit, _)| (rounded, unit)).expect("there are candidates")
}
