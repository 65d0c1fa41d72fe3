//! Glances at trapped pieces and at nets round the king, forced into score and scan.
use kibitzer_core::viveka::{ESCAPES, KING_NET, TERMS, Term, TermWeights};

use super::{Page, Study};
use crate::{
    fit::{
        forced::{Contribution, Forced},
        select::WITHIN,
    },
    progress,
    report::page::{Table, percent},
};

/// The places of `terms` in the table of all terms.
fn places(terms: &[Term]) -> Vec<usize> {
    let named = |i: &usize| terms.iter().any(|term| term.name == TERMS[*i].name);
    (0..TERMS.len()).filter(named).collect()
}

/// Each glance alone, each theme, and all together.
fn groups() -> Vec<(String, Vec<usize>)> {
    let (trapped, net) = (places(ESCAPES), places(KING_NET));
    let both = [&trapped[..], &net].concat();
    let mut groups: Vec<(String, Vec<usize>)> =
        both.iter().map(|&term| (TERMS[term].name.to_string(), vec![term])).collect();
    groups.push(("all about trapped pieces".into(), trapped));
    groups.push(("all about king nets".into(), net));
    groups.push(("all of these".into(), both));
    groups
}

/// What forcing them in gains in cross-validation on the openings fitted on, against the share
/// that a larger set must gain to be chosen.
pub(super) fn section(page: &mut Page, study: &Study) {
    let rows = study.fitted_rows();
    let mut forced = Forced::new(&rows, &study.split.fitted, &study.fitted);
    let groups = groups();
    let bar = progress::bar(groups.len() as u64, "groups of terms");
    let mut table = Table::new(["terms forced in", "score", "scan"]);
    let mut last = Contribution::default();
    for (name, terms) in groups {
        last = forced.contribution(&terms);
        table.row([name, percent(last.score), percent(last.scan)]);
        bar.inc(1);
    }
    bar.finish_and_clear();
    page.part("Glances at trapped pieces and king nets");
    page.add(format_args!(
        "Each is put into the sets that selection chose, and left out of them; the table says by \
         what share the first lowers the cross-validated loss (score) and the share of best moves \
         off the list (scan), on the openings fitted on. A larger set is chosen for {} at least.",
        percent(WITHIN)
    ));
    page.add(table);
    page.add(verdict(last, &study.fitted.weights.rows));
}

/// What follows from the contribution of all glances together.
fn verdict(all: Contribution, weights: &[TermWeights]) -> String {
    let glances = |name: &str| ESCAPES.iter().chain(KING_NET).any(|term| term.name == name);
    let chosen = |counts: fn(&TermWeights) -> bool| {
        weights.iter().filter(|row| glances(row.name) && counts(row)).count()
    };
    let meaning = |share: f64| {
        if share > WITHIN {
            "above the threshold: the rejection no longer holds"
        } else {
            "below the threshold: the rejection holds"
        }
    };
    format!(
        "Of {} glances, selection itself took {} into the score and {} into the scan. \
         **Verdict: in the score together {}, {}; in the scan {}, {}.**",
        ESCAPES.len() + KING_NET.len(),
        chosen(|row| !row.score.is_zero()),
        chosen(|row| row.scan != 0),
        percent(all.score),
        meaning(all.score),
        percent(all.scan),
        meaning(all.scan)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_glances_are_in_the_last_group() {
        let groups = groups();
        let (_, all) = groups.last().unwrap();
        assert_eq!(all.len(), ESCAPES.len() + KING_NET.len());
        assert!(groups.iter().all(|(_, terms)| terms.iter().all(|term| all.contains(term))));
    }

    #[test]
    fn the_verdict_follows_from_the_figures() {
        let rows = [
            TermWeights::new(ESCAPES[0].name, 0, -10, 0),
            TermWeights::new(KING_NET[0].name, 0, 0, 5),
        ];
        let said = verdict(Contribution { score: 0.01, scan: 0.2 }, &rows);
        assert!(said.contains("took 1 into the score and 1 into the scan"), "{said}");
        assert!(said.contains("1.0 %, below the threshold: the rejection holds"), "{said}");
        assert!(said.contains("20.0 %, above the threshold"), "{said}");
    }
}
