//! Fitting Viveka's weights to a labelled library.
//!
//! - [`features`]: the terms' values of every move; [`cache`] keeps them in a file.
//! - [`logit`]: the conditional logit that the weights come from.
//! - [`openings`]: which positions are fitted on, and which are kept apart.
//! - [`texel`]: the positional features' weights.
//! - [`weights`]: from logit weights to integers, and the files they are kept in.
pub mod cache;
pub mod check;
pub mod features;
pub mod logit;
pub mod openings;
pub mod texel;
pub mod weights;

use kibitzer_core::{
    exchange::PAWN,
    viveka::{MAX_DROP, Sense, TERM_COUNT, TERMS, Values},
};

use crate::library::LabelledPosition;
use features::Features;
use logit::Choice;

/// Soft targets: `exp((W(m) − max W) / 3)` in winning-chance points, normalised.
const TARGET_TEMPERATURE: f64 = 3.0;
/// Ridge penalty on the logit weights; chosen by cross-validation between 0.3 and 30, where the
/// result hardly changes.
const RIDGE: f64 = 3.0;

/// The soft targets of a position's moves.
pub fn soft_targets(position: &LabelledPosition) -> Vec<f64> {
    let chances = (0..position.moves.len()).map(|i| -position.chance_loss(i) / TARGET_TEMPERATURE);
    logit::softmax(&chances.collect::<Vec<f64>>())
}

/// All the target on the best moves, shared where they tie.
fn hard_targets(position: &LabelledPosition) -> Vec<f64> {
    let best: Vec<f64> =
        (0..position.moves.len()).map(|i| f64::from(u8::from(position.loss(i) == 0))).collect();
    let total: f64 = best.iter().sum();
    best.into_iter().map(|b| b / total).collect()
}

/// Score and scan points of the terms that a rule fixes rather than the fit: what ends the game
/// is too rare in libraries of unfinished games to learn from. Checkmate counts as the most a
/// choice can lose; stalemate loses the material balance, which the exchanges do not see.
fn fixed(term: usize) -> Option<(i32, i32)> {
    match TERMS[term].name {
        "mate" => Some((MAX_DROP, MAX_DROP)),
        "draws" => Some((PAWN, 0)),
        _ => None,
    }
}

fn to_choice(features: &Features, targets: Vec<f64>) -> Choice {
    let row = |values: &Values| values.iter().map(|&x| f64::from(x)).collect();
    Choice { features: features.moves.iter().map(row).collect(), targets }
}

/// Fits logit weights for the score: all terms, soft targets.
pub fn fit_score(positions: &[(&LabelledPosition, &Features)]) -> Vec<f64> {
    let columns: Vec<usize> = (0..TERM_COUNT).filter(|&t| fixed(t).is_none()).collect();
    fit_columns(positions, &columns, soft_targets)
}

/// Fits logit weights for the scan: glance-level terms, the deep-best move as target.
pub fn fit_scan(positions: &[(&LabelledPosition, &Features)]) -> Vec<f64> {
    let columns: Vec<usize> =
        (0..TERM_COUNT).filter(|&t| TERMS[t].glance && fixed(t).is_none()).collect();
    fit_columns(positions, &columns, hard_targets)
}

/// Fits `columns`, then again without those whose weight contradicts their sense, until none
/// does.
fn fit_columns(
    positions: &[(&LabelledPosition, &Features)],
    columns: &[usize],
    targets: fn(&LabelledPosition) -> Vec<f64>,
) -> Vec<f64> {
    let choices: Vec<Choice> =
        positions.iter().map(|(position, f)| to_choice(f, targets(position))).collect();
    let choices: Vec<&Choice> = choices.iter().collect();
    let mut columns = columns.to_vec();
    loop {
        let weights = logit::fit(&choices, TERM_COUNT, &columns, RIDGE);
        let before = columns.len();
        columns.retain(|&t| makes_sense(TERMS[t].sense, weights[t]));
        if columns.len() == before {
            return weights;
        }
    }
}

fn makes_sense(sense: Sense, weight: f64) -> bool {
    match sense {
        Sense::Good => weight >= 0.0,
        Sense::Bad => weight <= 0.0,
        Sense::Either => true,
    }
}
