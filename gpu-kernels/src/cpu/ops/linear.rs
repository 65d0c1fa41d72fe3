//! Matrix product with a parameter, bias and residual.
use rayon::prelude::*;

use crate::cpu::{
    few_rows,
    gemm::{Mat, MatMut, Old, multiply_parallel},
    matrix::{Grad, In, add_partials, piece},
    vector::{add, simd},
};

/// What is added to the product.
#[derive(Debug, Clone, Copy)]
pub enum Addend<'a> {
    /// Nothing.
    Zero,
    /// The same row everywhere.
    Bias(&'a [f32]),
    /// A whole matrix, and perhaps a row.
    Residual(&'a [f32], Option<&'a [f32]>),
}

/// `weight` is `[outputs, inputs]`.
pub fn forward(
    x: In<'_>,
    weight: &[f32],
    addend: Addend<'_>,
    y: &mut [f32],
    scratch: &mut Vec<f32>,
) {
    let (rows, inputs) = (x.rows(), x.width);
    let outputs = weight.len() / inputs;
    match addend {
        Addend::Zero => {}
        Addend::Bias(bias) => y.chunks_exact_mut(outputs).for_each(|y| y.copy_from_slice(bias)),
        Addend::Residual(residual, bias) => {
            copy(residual, y);
            if let Some(bias) = bias {
                y.chunks_exact_mut(outputs).for_each(|y| add(y, bias));
            }
        }
    }
    let old = if matches!(addend, Addend::Zero) { Old::Drop } else { Old::Keep };
    let y = MatMut::new(y, rows, outputs, outputs);
    if few_rows::suits(rows, weight.len()) {
        return few_rows::multiply(y, old, x, weight, scratch);
    }
    let weight = Mat::new(weight, outputs, inputs, inputs);
    multiply_parallel(y, old, x.matrix(), weight.t());
}

fn copy(from: &[f32], to: &mut [f32]) {
    let size = piece(to.len(), 1);
    to.par_chunks_mut(size).zip(from.par_chunks(size)).for_each(|(to, from)| {
        to.copy_from_slice(from);
    });
}

/// The gradient of the input.
pub fn backward_input(weight: &[f32], dy: &[f32], mut dx: Grad<'_>) {
    let inputs = dx.columns.width;
    let outputs = weight.len() / inputs;
    let rows = dy.len() / outputs;
    let old = if dx.columns.accumulate { Old::Keep } else { Old::Drop };
    let weight = Mat::new(weight, outputs, inputs, inputs);
    multiply_parallel(dx.matrix(), old, Mat::new(dy, rows, outputs, outputs), weight);
}

/// The gradient of the weight, overwriting or adding.
pub fn backward_weight(x: In<'_>, dy: &[f32], dweight: &mut [f32], old: Old) {
    let (rows, inputs) = (x.rows(), x.width);
    let outputs = dweight.len() / inputs;
    let dy = Mat::new(dy, rows, outputs, outputs);
    multiply_parallel(MatMut::new(dweight, outputs, inputs, inputs), old, dy.t(), x.matrix());
}

/// The gradient of the bias, added.
pub fn backward_bias(dy: &[f32], dbias: &mut [f32], scratch: &mut Vec<f32>) {
    let outputs = dbias.len();
    let rows = piece(dy.len() / outputs, outputs);
    scratch.clear();
    scratch.resize(dy.len().div_ceil(rows * outputs) * outputs, 0.0);
    let pieces = dy.par_chunks(rows * outputs).zip(scratch.par_chunks_mut(outputs));
    pieces.for_each(|(dy, sum)| {
        simd(
            #[inline(always)]
            || dy.chunks_exact(outputs).for_each(|dy| add(sum, dy)),
        );
    });
    add_partials(dbias, scratch, outputs, 0);
}
