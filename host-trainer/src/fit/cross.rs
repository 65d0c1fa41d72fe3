//! Cross-validation of the whole fit: selection, weights, β and all else on four fifths of the
//! openings, rated on the last.
use anyhow::Result;
use kibitzer_core::viveka::CANDIDATES;

use super::{
    Row, fit,
    openings::{self, FOLDS},
};
use crate::judge::{self, Standings};

/// What the cross-validation found; means over all positions.
#[derive(Debug, Clone, Default)]
pub struct CrossValidated {
    /// Positions rated.
    pub positions: usize,
    /// Mean loss, in centipawns, of a random choice and of each of the [ways](judge::ways) of
    /// choosing in which something is fitted.
    pub losses: Vec<(&'static str, f64)>,
    /// Share of positions with the best move among eight.
    pub recall_best: f64,
    /// Share of positions with one of the engine's top three among eight.
    pub recall_top3: f64,
    /// Of the entropy, the folds' mean by their positions; [`EntropyReport`] says what of.
    ///
    /// [`EntropyReport`]: judge::EntropyReport
    pub auc: f64,
    /// Likewise.
    pub spearman: f64,
}

/// Rates the fit on `rows`, whose openings are `openings` (sorted); `done` is called after each
/// fold.
///
/// # Errors
/// As [`fit`].
pub fn cross_validate(
    rows: &[Row],
    openings: &[String],
    done: impl Fn(),
) -> Result<CrossValidated> {
    let mut all = CrossValidated { positions: rows.len(), ..CrossValidated::default() };
    for fold in 0..FOLDS {
        let in_fold = |row: &&Row| openings::fold(openings, &row.0.opening) == fold;
        let (test, train): (Vec<Row>, Vec<Row>) = rows.iter().copied().partition(|r| in_fold(&r));
        let names = openings::names(train.iter().map(|row| row.0));
        let fitted = fit(&train, &names)?;
        let judged = judge::examine(&test, &fitted.weights);
        let share = judged.len() as f64 / rows.len().max(1) as f64;
        // The first of the ways is material alone: nothing of it is fitted.
        let ways = judge::ways(&fitted.v1, &fitted.weights).into_iter().skip(1);
        let rated = ways.map(|(name, choose)| (name, judge::choice(&judged, choose).mean_loss));
        let random = ("random", judge::random_loss(&judged));
        let rated: Vec<(&str, f64)> = [random].into_iter().chain(rated).collect();
        all.losses.resize(rated.len(), ("", 0.0));
        for (sum, (name, loss)) in all.losses.iter_mut().zip(rated) {
            *sum = (name, sum.1 + share * loss);
        }
        all.recall_best += share * judge::recall_at(&judged, CANDIDATES, |p, i| p.loss(i) == 0);
        all.recall_top3 += share * judge::recall_at(&judged, CANDIDATES, |p, i| p.moves[i].top);
        let entropy = Standings::of(&judged, &fitted.weights).rate(fitted.weights.temperature);
        // With no critical position, or no other, nothing can be told apart: as by chance.
        all.auc += share * entropy.auc.unwrap_or(0.5);
        all.spearman += share * entropy.spearman;
        done();
    }
    Ok(all)
}
