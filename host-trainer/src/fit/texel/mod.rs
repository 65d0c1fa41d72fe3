//! Fitting the positional features: Texel tuning.
//!
//! The tapered evaluation of quiet positions is brought to predict their winning chances, by
//! least squares, as the chess program Texel's author introduced it (Österlund, 2014).
//!
//! - [`quiet`]: the positions, from the library's stored lines.
//! - [`tuning`]: the least squares, by Levenberg and Marquardt.
//! - [`variance`]: how much of the chances' variance an evaluation explains.
//! - [`table`]: the weights as a table of the core, and in `viveka.json`.
//! - [`report`]: the fit, printed.
pub mod quiet;
pub mod report;
pub mod table;
pub mod tuning;
pub mod variance;

use kibitzer_core::viveka::positional::{FEATURES, PositionalWeights};
use rayon::prelude::*;

use super::openings::{self, FOLDS, Split};
use crate::library::LabelledPosition;
use quiet::Quiet;
use variance::{Explained, Rivals};

/// Largest weight, in centipawns: what the core's sums are safe with.
const MAX_WEIGHT: f64 = 10_000.0;
/// Ridge penalties tried, strongest first: each fit starts from the one before. See
/// [`tuning::fit`] for the unit.
const RIDGES: [f64; 4] = [1e-3, 1e-4, 1e-5, 1e-6];

/// Fitted positional weights, and how they did.
#[derive(Debug, Clone)]
pub struct Positional {
    /// Integer weights, fitted on all openings of the split that are fitted on.
    pub weights: PositionalWeights,
    /// The ridge penalty, the one of [`RIDGES`] that did best in cross-validation.
    pub ridge: f64,
    /// Quiet positions fitted on.
    pub positions: usize,
    /// Five-fold cross-validation by opening, with rounded weights, on the openings fitted on.
    pub cross_validated: Vec<Explained>,
    /// The same of the openings held out; empty where there are none.
    pub held_out: Vec<Explained>,
}

/// Fits the positional weights on the quiet positions of `positions`' lines, in the openings
/// that `split` fits on; `None` if a fold has none to fit on.
pub fn fit(positions: &[LabelledPosition], split: &Split) -> Option<Positional> {
    let quiet = quiet::collect(positions);
    let fitted = |q: &&Quiet| split.fitted.binary_search(&q.opening).is_ok();
    let (fitted, held_out): (Vec<&Quiet>, Vec<&Quiet>) = quiet.iter().partition(fitted);
    let folds: Vec<Fold> = (0..FOLDS).map(|fold| Fold::new(&fitted, split, fold)).collect();
    if folds.iter().any(|fold| fold.train.is_empty()) {
        return None;
    }
    let (ridge, path) = best_ridge(&folds);
    let whole = path_to(&fitted, ridge).pop()?;
    let weights = round(&whole);
    let of_fold = |(fold, weights): (&Fold, &Vec<f64>)| {
        Rivals::predict(&fold.test, &round(weights), variance::material_slope(&fold.train))
    };
    let predicted: Vec<Rivals> = folds.iter().zip(&path).flat_map(of_fold).collect();
    let apart = Rivals::predict(&held_out, &weights, variance::material_slope(&fitted));
    Some(Positional {
        ridge,
        positions: fitted.len(),
        cross_validated: variance::explained(&predicted),
        held_out: variance::explained(&apart),
        weights,
    })
}

/// Openings to fit on, and those to test on.
struct Fold<'a> {
    train: Vec<&'a Quiet>,
    test: Vec<&'a Quiet>,
}

impl<'a> Fold<'a> {
    fn new(all: &[&'a Quiet], split: &Split, fold: usize) -> Fold<'a> {
        let in_fold = |q: &&Quiet| openings::fold(&split.fitted, &q.opening) == fold;
        let (test, train) = all.iter().copied().partition(in_fold);
        Fold { train, test }
    }
}

/// The fits of [`RIDGES`] down to `ridge`.
fn path_to(positions: &[&Quiet], ridge: f64) -> Vec<Vec<f64>> {
    let mut start = tuning::zero();
    let ridges = RIDGES.iter().take_while(|&&r| r >= ridge);
    ridges
        .map(|&ridge| {
            start = tuning::fit(positions, ridge, &start);
            start.clone()
        })
        .collect()
}

/// The ridge with the least squared error over all folds' tests, and each fold's weights at it.
fn best_ridge(folds: &[Fold]) -> (f64, Vec<Vec<f64>>) {
    let weakest = RIDGES[RIDGES.len() - 1];
    let paths: Vec<Vec<Vec<f64>>> =
        folds.par_iter().map(|fold| path_to(&fold.train, weakest)).collect();
    let error = |i: usize| -> f64 {
        folds.iter().zip(&paths).map(|(f, path)| tuning::squared_error(&f.test, &path[i])).sum()
    };
    let errors = (0..RIDGES.len()).map(|i| (error(i), i));
    let best = errors.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, i)| i);
    (RIDGES[best], paths.into_iter().map(|mut path| path.swap_remove(best)).collect())
}

/// The nearest integer weights.
fn round(weights: &[f64]) -> PositionalWeights {
    let rounded = |w: f64| w.round().clamp(-MAX_WEIGHT, MAX_WEIGHT) as i32;
    let row = |i| {
        let (middle, end) = tuning::pair(weights, i);
        (FEATURES[i].name, rounded(middle), rounded(end))
    };
    PositionalWeights { rows: std::array::from_fn(row) }
}
