//! The numbers as a table.
use std::fmt;

use comfy_table::{CellAlignment, Table, presets::ASCII_MARKDOWN};

use super::counts::{Counts, SCORE_LIMITS};
use crate::bands::{PHASES, STANDINGS};

/// Openings that are listed.
const LISTED: usize = 10;

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new();
        table.load_style(ASCII_MARKDOWN);
        table.set_header(["what", "number", "%"]);
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let mut add = |what: &str, number: u64, of: u64| {
            let share = 100.0 * number as f64 / of as f64;
            let share = if of > 0 { format!("{share:.1}") } else { String::new() };
            table.add_row([what.to_owned(), number.to_string(), share]);
        };
        let all = self.positions;
        add("positions", all, 0);
        add("different positions", self.different, all);
        if let Some(games) = self.games {
            add("games", games, 0);
        }
        if self.held_out > 0 {
            add("held out", self.held_out, all);
            add("held out, and also in training", self.held_out_seen, self.held_out);
        }
        for (name, &number) in PHASES.iter().zip(&self.phases) {
            add(name, number, all);
        }
        let results: u64 = self.results.iter().sum();
        if results > 0 {
            for (name, &number) in ["White won", "drawn", "Black won"].iter().zip(&self.results) {
                add(name, number, results);
            }
        }
        let standings: u64 = self.standings.iter().sum();
        if standings > 0 {
            for (name, &number) in STANDINGS.iter().zip(&self.standings) {
                add(&format!("for the mover {name}"), number, standings);
            }
        }
        let labelled: u64 = self.scores.iter().sum();
        for (i, &number) in self.scores.iter().enumerate().filter(|_| labelled > 0) {
            add(&format!("best score {} cp", range(i)), number, labelled);
        }
        for (depth, &number) in &self.depths {
            add(&format!("labelled at depth {depth}"), number, all);
        }
        let mut openings: Vec<(&String, &u64)> = self.openings.iter().collect();
        openings.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        if !openings.is_empty() {
            add("openings", openings.len() as u64, 0);
        }
        for (name, &number) in openings.into_iter().take(LISTED) {
            add(&format!("opening {name}"), number, all);
        }
        writeln!(f, "{}\n{}", self.kind, table.trim_fmt())?;
        let (pieces, legal) = (mean(&self.pieces), mean(&self.legal));
        writeln!(f, "pieces {pieces:.1}, legal moves {legal:.1} on average")?;
        if self.best_share > 0.0 {
            writeln!(
                f,
                "targets: {} with several moves, their entropy {:.3} nats; the most wanted move's \
                 share {:.1} %",
                self.soft,
                self.soft_entropy,
                100.0 * self.best_share
            )?;
        }
        Ok(())
    }
}

/// What the scores in place `i` of the histogram have in common.
pub(super) fn range(i: usize) -> String {
    match (i.checked_sub(1).map(|i| SCORE_LIMITS[i]), SCORE_LIMITS.get(i)) {
        (None, Some(to)) => format!("< {to}"),
        (Some(from), Some(to)) => format!("{from} … {}", to - 1),
        (Some(from), None) => format!(">= {from}"),
        (None, None) => String::new(),
    }
}

/// The mean of what a histogram counts by its places.
fn mean(histogram: &[u64]) -> f64 {
    let sum: u64 = (0..).zip(histogram).map(|(value, count)| value * count).sum();
    sum as f64 / histogram.iter().sum::<u64>().max(1) as f64
}
