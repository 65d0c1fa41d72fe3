//! What is fitted after the score: β of the check, and the entropy that flags critical positions.
use kibitzer_core::viveka::Weights;

use crate::judge::{self, Judged};

/// Step of the grid over β, in percent.
const STEP: i32 = 5;

/// The β, in percent from 0 to 100, with the least mean loss over `positions`; the smaller one
/// where several tie.
pub fn fit_beta(weights: &Weights, positions: &[Judged]) -> i32 {
    let loss = |percent: i32| {
        let weights = Weights { check_percent: percent, ..weights.clone() };
        judge::choice(positions, |p| p.checked(&weights)).mean_loss
    };
    let grid = (0..=100).step_by(STEP as usize).map(|percent| (loss(percent), percent));
    grid.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, percent)| percent)
}

/// The entropy threshold, in thousandths of a nat, that best tells critical positions from the
/// others: the greatest F1 of "critical below it".
pub fn fit_critical(positions: &[Judged]) -> i32 {
    let mut marked: Vec<(i32, bool)> =
        positions.iter().map(|p| (p.entropy, p.labelled.is_critical())).collect();
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
