//! Information and entropy: what the move distribution says of a position.
use anyhow::Result;
use kibitzer_core::viveka::TERMS;

use super::{
    figures::{Series, bars},
    page::{NOTHING, Page, Table, number, percent},
    study::Study,
};
use crate::{
    fit::select::Path,
    judge::{self, Judged},
};

/// The term that counts what the opponent can safely play.
const SAFE_REPLIES: &str = "safe_replies";

/// The safe replies' place in the selection, and how the entropy tells critical positions.
pub fn section(page: &mut Page, study: &Study, judged: &[Judged]) -> Result<()> {
    page.add(information(&study.fitted.score));
    let weights = &study.fitted.weights;
    let report = judge::entropy_report(judged, weights);
    let share = |auc: Option<f64>| auc.map_or(NOTHING.to_string(), |auc| number(auc, 3));
    let mut table = Table::new(["figure", "value"]);
    for (figure, value) in [
        ("rank correlation with the engine's own entropy (Spearman)", number(report.spearman, 3)),
        ("AUC of the entropy for critical positions", share(report.auc)),
        ("AUC of the best candidate's lead over the second", share(report.margin_auc)),
        ("positions that are critical", percent(report.critical)),
        ("of the flagged positions, those that are critical", percent(report.flag_precision)),
        ("of the critical positions, those that are flagged", percent(report.flag_recall)),
    ] {
        table.row([figure.to_string(), value]);
    }
    page.add(
        "A position is critical when the best move leads the second by at least a pawn. Entropy: \
         that of the formula's own move distribution; the lead is the simpler proxy at the board.",
    );
    page.add(table);
    let fifths: Vec<String> =
        ["lowest", "second", "third", "fourth", "highest"].map(String::from).to_vec();
    let mut table = Table::new(["fifth by entropy", "critical"]);
    for (fifth, &share) in fifths.iter().zip(&report.quintiles) {
        table.row([fifth.clone(), percent(share)]);
    }
    page.add(table);
    let shares = Series::of("critical", report.quintiles.iter().map(|share| 100.0 * share));
    let figure = bars("fifth of the positions, by entropy", "critical, %", &fifths, &[shares])?;
    page.figure("entropy", "critical positions in each fifth by entropy", figure);
    Ok(())
}

/// Where the number of safe replies joined, and what it was worth.
fn information(path: &Path) -> String {
    let joined = path
        .steps
        .iter()
        .position(|step| TERMS.get(step.column).is_some_and(|term| term.name == SAFE_REPLIES));
    match joined {
        Some(at) if at > 0 => format!(
            "The number of safe replies that a move leaves the opponent (`{SAFE_REPLIES}`) was \
             weight {} to be selected: with it the cross-validated loss is {} cp, before it {} cp.",
            at + 1,
            number(path.steps[at].figure, 1),
            number(path.steps[at - 1].figure, 1)
        ),
        Some(_) => format!("`{SAFE_REPLIES}` is the first weight of the score."),
        None => format!(
            "The number of safe replies that a move leaves the opponent (`{SAFE_REPLIES}`) was \
             not selected."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_term_is_there() {
        assert!(TERMS.iter().any(|term| term.name == SAFE_REPLIES));
    }
}
