//! What is fitted after the score: β of the check, τ of the entropy, and the critical flag.
use kibitzer_core::viveka::{Tapered, Weights};
use rayon::prelude::*;

use crate::judge::{self, Judged, Standings};

/// Step of the grid over β, in percent.
const STEP: i32 = 5;
/// Step and end of the grid over τ, in points.
const TEMPERATURE_STEP: i32 = 5;
const MAX_TEMPERATURE: i32 = 100;

/// The β, in percent from 0 to 100, with the least mean loss over `positions`; the smaller one
/// where several tie.
pub fn fit_beta(weights: &Weights, positions: &[Judged]) -> i32 {
    let loss = |percent: i32| {
        let weights = Weights { check_percent: percent, ..weights.clone() };
        judge::choice(positions, |p| p.checked(&weights)).mean_loss
    };
    // In parallel: other leaders than before get a second look at each.
    let grid: Vec<i32> = (0..=100).step_by(STEP as usize).collect();
    let rated: Vec<(f64, i32)> = grid.into_par_iter().map(|p| (loss(p), p)).collect();
    rated.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, percent)| percent)
}

/// The τ of middlegame and endgame, in points, at which the entropy says most: the greatest sum of
/// its rank correlation with the engine's own and of how it ranks critical positions (twice the
/// AUC less 1, likewise a rank correlation).
pub fn fit_temperature(weights: &Weights, positions: &[Judged]) -> Tapered {
    let standings = Standings::of(positions, weights);
    let grid = || (TEMPERATURE_STEP..=MAX_TEMPERATURE).step_by(TEMPERATURE_STEP as usize);
    let pairs: Vec<Tapered> = grid()
        .flat_map(|middlegame| grid().map(move |endgame| Tapered { middlegame, endgame }))
        .collect();
    let figure = |&temperature: &Tapered| {
        let found = standings.rate(temperature);
        found.spearman + found.auc.map_or(0.0, |auc| 2.0 * auc - 1.0)
    };
    let figures: Vec<f64> = pairs.par_iter().map(figure).collect();
    let best = figures.iter().zip(pairs).max_by(|a, b| a.0.total_cmp(b.0));
    best.map_or(Tapered::level(TEMPERATURE_STEP), |(_, temperature)| temperature)
}

/// The entropy threshold, in thousandths of a nat, that best tells critical positions from the
/// others at the weights' temperature: the greatest F1 of "critical below it".
pub fn fit_critical(weights: &Weights, positions: &[Judged]) -> i32 {
    let mark = |p: &Judged| (p.entropy(weights), p.labelled.is_critical());
    let mut marked: Vec<(i32, bool)> =
        positions.iter().filter(|p| p.scores.len() > 1).map(mark).collect();
    marked.sort_unstable();
    let critical = marked.iter().filter(|m| m.1).count();
    let mut hits = 0;
    let mut best = (0.0, 0);
    for (flagged, &(entropy, is_critical)) in (1..).zip(&marked) {
        hits += usize::from(is_critical);
        let f1 = 2.0 * hits as f64 / (critical + flagged) as f64;
        if f1 > best.0 {
            best = (f1, entropy + 1);
        }
    }
    best.1
}
