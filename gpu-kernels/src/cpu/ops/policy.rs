//! The two policy heads, for legal entries only.
use kibitzer_core::inputs::SQUARES;
use rayon::prelude::*;

use crate::{
    Pair,
    cpu::{
        chunk::Chunk,
        matrix::{Grad, In},
        vector::{add_scaled, dot, simd},
    },
    pairs,
};

/// `x[n] · W[m] + b[m]`.
pub fn pooled_forward(chunk: &Chunk<'_>, x: In<'_>, weight: &[f32], bias: &[f32], y: &mut [f32]) {
    let legal = chunk.legal();
    simd(
        #[inline(always)]
        || {
            for n in 0..x.rows() {
                let (x, entries) = (x.row(n), chunk.entries(n));
                for (y, &m) in y[entries.clone()].iter_mut().zip(&legal[entries]) {
                    let m = usize::from(m);
                    *y = dot(x, &weight[m * x.len()..][..x.len()]) + bias[m];
                }
            }
        },
    );
}

/// Adds to the parameters' gradients.
pub fn pooled_backward(
    chunk: &Chunk<'_>,
    x: In<'_>,
    weight: &[f32],
    dy: &[f32],
    mut dx: Grad<'_>,
    (dweight, dbias): (&mut [f32], &mut [f32]),
) {
    let (width, legal) = (x.width, chunk.legal());
    dx.clear();
    simd(
        #[inline(always)]
        || {
            for n in 0..x.rows() {
                let (x, entries) = (x.row(n), chunk.entries(n));
                for (&dy, &m) in dy[entries.clone()].iter().zip(&legal[entries]) {
                    let m = usize::from(m);
                    add_scaled(dx.row(n), dy, &weight[m * width..][..width]);
                    add_scaled(&mut dweight[m * width..][..width], dy, x);
                    dbias[m] += dy;
                }
            }
        },
    );
}

/// The matrices of the `from_to` head, or their gradients.
#[derive(Debug, Clone, Copy)]
pub struct Squares<T> {
    /// From vectors.
    pub from: T,
    /// To vectors.
    pub to: T,
    /// Underpromotion scores.
    pub promotion: T,
}

fn pair(index: u16) -> Pair {
    pairs()[usize::from(index)].expect("a valid batch's moves are on the board")
}

/// `from · to / √P`, and the underpromotion's score.
pub fn pairs_forward(chunk: &Chunk<'_>, x: Squares<In<'_>>, y: &mut [f32]) {
    let legal = chunk.legal();
    let scale = (x.from.width as f32).sqrt().recip();
    simd(
        #[inline(always)]
        || {
            for n in 0..chunk.sizes.positions() {
                let entries = chunk.entries(n);
                for (y, &m) in y[entries.clone()].iter_mut().zip(&legal[entries]) {
                    let Pair { from, to, promotion } = pair(m);
                    let (from, to) =
                        (n * SQUARES + usize::from(from), n * SQUARES + usize::from(to));
                    let extra = promotion.map_or(0.0, |k| x.promotion.row(from)[usize::from(k)]);
                    *y = dot(x.from.row(from), x.to.row(to)) * scale + extra;
                }
            }
        },
    );
}

pub fn pairs_backward(
    chunk: &Chunk<'_>,
    x: Squares<In<'_>>,
    dy: &[f32],
    gradients: Squares<Grad<'_>>,
) {
    let legal = chunk.legal();
    let scale = (x.from.width as f32).sqrt().recip();
    let Squares { from, to, promotion } = gradients;
    let positions = from.pieces(SQUARES).zip(to.pieces(SQUARES)).zip(promotion.pieces(SQUARES));
    positions.enumerate().for_each(|(n, ((mut dfrom, mut dto), mut dpromotion))| {
        simd(
            #[inline(always)]
            || {
                dfrom.clear();
                dto.clear();
                dpromotion.clear();
                let entries = chunk.entries(n);
                for (&dy, &m) in dy[entries.clone()].iter().zip(&legal[entries]) {
                    let Pair { from, to, promotion } = pair(m);
                    let (from, to) = (usize::from(from), usize::from(to));
                    add_scaled(dfrom.row(from), dy * scale, x.to.row(n * SQUARES + to));
                    add_scaled(dto.row(to), dy * scale, x.from.row(n * SQUARES + from));
                    if let Some(k) = promotion {
                        dpromotion.row(from)[usize::from(k)] += dy;
                    }
                }
            },
        );
    });
}
