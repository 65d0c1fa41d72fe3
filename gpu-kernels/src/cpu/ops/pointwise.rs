//! Functions of one element.
use std::f32::consts::{FRAC_1_SQRT_2, PI};

use crate::{
    cpu::matrix::{Grad, In},
    program::Pointwise,
};

pub fn forward(function: Pointwise, x: In<'_>, y: &mut [f32]) {
    for (row, y) in y.chunks_exact_mut(x.width).enumerate() {
        for (y, &x) in y.iter_mut().zip(x.row(row)) {
            *y = match function {
                Pointwise::Gelu => x * normal_below(x),
                Pointwise::Tanh => x.tanh(),
            };
        }
    }
}

pub fn backward(function: Pointwise, x: In<'_>, dy: &[f32], dx: Grad<'_>) {
    let rows = dx.data.chunks_exact_mut(dx.stride).zip(dy.chunks_exact(x.width));
    for (row, (dx_row, dy)) in rows.enumerate() {
        let dx_row = dx.columns.of(dx_row);
        for ((dx, &x), &dy) in dx_row.iter_mut().zip(x.row(row)).zip(dy) {
            *dx += dy
                * match function {
                    Pointwise::Gelu => {
                        let density = (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
                        normal_below(x) + x * density
                    }
                    Pointwise::Tanh => 1.0 - x.tanh().powi(2),
                };
        }
    }
}

/// The standard normal distribution function.
fn normal_below(x: f32) -> f32 {
    0.5 * libm::erfcf(-x * FRAC_1_SQRT_2)
}
