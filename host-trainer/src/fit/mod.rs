//! Fitting Viveka's weights to a labelled library.
//!
//! - [`features`]: the terms' values of every move; [`cache`] keeps them in a file.
//! - [`openings`]: which positions are fitted on, and which are kept apart.
//! - [`column`]: what a weight belongs to, a term at every phase or in the endgame.
//! - [`sample`], [`logit`], [`curvature`], [`matrix`]: the conditional logit that the weights come from.
//! - [`select`]: which terms are worth a weight.
//! - [`forced`]: what terms contribute that are forced in.
//! - [`rounding`]: from logit weights to integers.
//! - [`check`]: β, τ and the critical threshold.
//! - [`cross`]: how all of it does on openings left out.
//! - [`texel`]: the positional features' weights.
//! - [`weights`]: the files that hold what was fitted.
pub mod cache;
pub mod check;
pub mod column;
pub mod cross;
pub mod curvature;
pub mod features;
pub mod forced;
pub mod logit;
pub mod matrix;
pub mod openings;
pub mod rounding;
pub mod sample;
pub mod select;
pub mod texel;
pub mod weights;

use anyhow::Result;
use kibitzer_core::{
    exchange::PAWN,
    viveka::{
        CANDIDATES, MATERIAL, MAX_DROP, MAX_WEIGHT, TERM_COUNT, TERMS, Tapered, TermWeights,
        Weights,
    },
};

use crate::{error::UserError, judge, library::LabelledPosition};
use curvature::curvature;
use features::Features;
use rounding::Rounding;
use sample::Sample;
use select::{Aim, Path, select};

/// A position with its features.
pub type Row<'a> = (&'a LabelledPosition, &'a Features);

/// Soft targets: `exp(−loss / 60 cp)`, normalised.
const TARGET_TEMPERATURE: f64 = 60.0;
/// By how much the logits are sharpened where the choice between them is rated: to some points.
const SHARPENED: f64 = 8.0;
/// The most weights that a score or a scan may have.
const MOST_WEIGHTS: usize = 60;
/// The material term of v1, which counted one square.
const V1_MATERIAL: &str = "exchange_one";
/// The number of v1's terms.
const V1_TERMS: usize = 6;

/// All that is fitted, and how the terms were selected.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The board's weights.
    pub weights: Weights,
    /// The baseline's.
    pub v1: Vec<(&'static str, i32)>,
    /// Selection of the score's terms; the figure is the mean loss of its choices, in cp.
    pub score: Path,
    /// Selection of the scan's terms; the figure is the share of positions whose best move is
    /// not among the candidates.
    pub scan: Path,
}

/// Selects the terms and fits everything to `rows`, whose openings are `openings` (sorted).
///
/// # Errors
/// [`UserError`] if material gets no weight.
pub fn fit(rows: &[Row], openings: &[String]) -> Result<Fitted> {
    let samples = samples(rows, openings);
    let (score_path, score) = fit_score(&samples)?;
    let (scan_path, scan) = fit_scan(&samples, score.points_per_logit);
    let row = |term| {
        let (score, scan) = match fixed_points(term) {
            Some((score, scan)) => (Tapered::level(score), scan),
            None => (column::tapered(&score.points, term), column::points(&scan, term)),
        };
        TermWeights { name: TERMS[term].name, score, scan }
    };
    let mut weights = Weights {
        rows: std::array::from_fn(row),
        check_percent: 0,
        temperature: Tapered::level(PAWN),
        critical_entropy: 0,
    };
    let judged = judge::examine(rows, &weights);
    weights.check_percent = check::fit_beta(&weights, &judged);
    weights.temperature = check::fit_temperature(&weights, &judged);
    weights.critical_entropy = check::fit_critical(&weights, &judged);
    Ok(Fitted { weights, v1: fit_v1(&samples)?, score: score_path, scan: scan_path })
}

/// Columns with their integer weights, at 100 points a pawn.
struct Linear {
    points: Vec<(usize, i32)>,
    points_per_logit: f64,
}

/// The score: all terms, each with a weight of its own in the endgame if that is worth it.
/// Material counts the same at every phase: it is what points are counted in.
fn fit_score(samples: &[Sample]) -> Result<(Path, Linear)> {
    let pool: Vec<usize> = (0..TERM_COUNT).filter(|&t| fixed_points(t).is_none()).collect();
    let aim = Aim {
        first: Some(MATERIAL),
        pool: &pool,
        tapered: true,
        most: MOST_WEIGHTS,
        figure: mean_loss,
    };
    let path = select(samples, &aim);
    let linear = in_pawns(samples, path.columns())?;
    Ok((path, linear))
}

/// The baseline: the exchange on one square, and five terms seen at a glance.
fn fit_v1(samples: &[Sample]) -> Result<Vec<(&'static str, i32)>> {
    let material = (0..TERM_COUNT).find(|&t| TERMS[t].name == V1_MATERIAL);
    let pool = glance_terms();
    let aim =
        Aim { first: material, pool: &pool, tapered: false, most: V1_TERMS, figure: mean_loss };
    let terms = select(samples, &aim).steps.iter().map(|step| step.column).collect();
    let linear = in_pawns(samples, terms)?.points;
    Ok(linear.into_iter().map(|(term, points)| (TERMS[term].name, points)).collect())
}

/// The scan: terms seen at a glance, on the score's scale, on which they stand in for the score
/// of moves that are not examined.
fn fit_scan(samples: &[Sample], points_per_logit: f64) -> (Path, Vec<(usize, i32)>) {
    let pool = glance_terms();
    let aim = Aim { first: None, pool: &pool, tapered: false, most: MOST_WEIGHTS, figure: missed };
    let path = select(samples, &aim);
    let (columns, weights) = fit_columns(samples, path.columns());
    let points = integers(samples, &columns, &weights, points_per_logit, None);
    (path, columns.into_iter().zip(points).collect())
}

/// Fits `columns`, the first of which is counted in pawns, and searches integers for them.
fn in_pawns(samples: &[Sample], columns: Vec<usize>) -> Result<Linear> {
    let pawns = columns.first().copied();
    let (columns, weights) = fit_columns(samples, columns);
    // Left out, if its weight contradicted its sense.
    let pawn = if columns.first().copied() == pawns { weights[0] } else { 0.0 };
    if pawn < 1e-3 {
        let mend = "fit on more positions, or check the scores' sign";
        return Err(UserError::new("the fit gives material no weight", "the library", mend).into());
    }
    let points_per_logit = f64::from(PAWN) / pawn;
    let points = integers(samples, &columns, &weights, points_per_logit, Some(0));
    Ok(Linear { points: columns.into_iter().zip(points).collect(), points_per_logit })
}

/// Integers for fitted weights; `pinned` stays what it is at this scale.
fn integers(
    samples: &[Sample],
    columns: &[usize],
    weights: &[f64],
    points_per_logit: f64,
    pinned: Option<usize>,
) -> Vec<i32> {
    let all: Vec<&Sample> = samples.iter().collect();
    let hessian = curvature(&all, columns, weights, &[]).hessian;
    let mut rounding = Rounding::search(&hessian, weights, points_per_logit, pinned);
    rounding.make_round(samples.len());
    rounding.points.iter().map(|&points| points.clamp(-MAX_WEIGHT, MAX_WEIGHT)).collect()
}

fn glance_terms() -> Vec<usize> {
    (0..TERM_COUNT).filter(|&t| TERMS[t].glance && fixed_points(t).is_none()).collect()
}

/// The rows that the logit fits learn from: where a mate in one can be played, a rule decides.
fn samples(rows: &[Row], openings: &[String]) -> Vec<Sample> {
    let mates: Vec<usize> = (0..TERM_COUNT).filter(|&t| TERMS[t].name == "mate").collect();
    let has_mate = |row: &&Row| row.1.moves.iter().any(|v| mates.iter().any(|&t| v[t] != 0));
    let rows: Vec<Row> = rows.iter().filter(|row| !has_mate(row)).copied().collect();
    Sample::all(&rows, openings)
}

/// Fits `columns`, then again without those whose weight contradicts their sense, until none
/// does.
fn fit_columns(samples: &[Sample], mut columns: Vec<usize>) -> (Vec<usize>, Vec<f64>) {
    let all: Vec<&Sample> = samples.iter().collect();
    loop {
        let weights = logit::fit(&all, &columns, &vec![0.0; columns.len()]);
        let sensible = column::sensible(&columns, &weights);
        let kept = columns.iter().zip(sensible).filter(|kept| kept.1);
        let kept: Vec<usize> = kept.map(|(&column, _)| column).collect();
        if kept.len() == columns.len() {
            return (columns, weights);
        }
        columns = kept;
    }
}

/// The soft targets of a position's moves.
fn targets(position: &LabelledPosition) -> Vec<f64> {
    let losses = (0..position.moves.len()).map(|i| f64::from(position.loss(i)));
    logit::softmax(&losses.map(|loss| -loss / TARGET_TEMPERATURE).collect::<Vec<f64>>())
}

/// What the choice by the score loses, in centipawns. The choice is drawn from the softmax,
/// sharpened until only near ties are open: where two moves are within a few points of each
/// other, which of them comes out on top is noise, and both count.
fn mean_loss(sample: &Sample, scores: &[f64]) -> f64 {
    let sharp: Vec<f64> = scores.iter().map(|score| SHARPENED * score).collect();
    let choice = logit::softmax(&sharp);
    choice.iter().zip(&sample.losses).map(|(p, &loss)| p * f64::from(loss)).sum()
}

/// 1 if no best move is among the candidates. Moves that tie for the last place count as far as
/// there is room for them.
fn missed(sample: &Sample, scores: &[f64]) -> f64 {
    let moves = scores.iter().zip(&sample.losses);
    let best = moves.filter(|(_, loss)| **loss == 0).map(|(score, _)| *score);
    let best = best.fold(f64::NEG_INFINITY, f64::max);
    let above = scores.iter().filter(|score| **score > best).count();
    let level = scores.iter().filter(|score| **score == best).count();
    let room = CANDIDATES.saturating_sub(above) as f64;
    1.0 - (room / level.max(1) as f64).min(1.0)
}

/// Score and scan points of the terms that a rule fixes rather than the fit: what ends the game
/// is too rare in libraries of unfinished games to learn from. Checkmate counts more than
/// anything else; stalemate loses the material balance, which the exchanges do not see.
fn fixed_points(term: usize) -> Option<(i32, i32)> {
    match TERMS[term].name {
        "mate" => Some((MAX_DROP, MAX_DROP)),
        "draws" => Some((PAWN, 0)),
        _ => None,
    }
}
