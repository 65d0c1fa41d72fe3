//! `kibitzer fit`: Viveka's weights from a labelled library.
use std::{
    io::{self, Write as _},
    path::PathBuf,
};

use anyhow::Result;
use kibitzer_core::viveka::{CANDIDATES, TERMS, Weights};

use crate::{
    files,
    fit::{
        self,
        cache::Cache,
        check,
        features::Features,
        openings::{self, FOLDS, Split},
        weights::{self, WeightsFile},
    },
    judge::{self, Judged},
    library::{self, LabelledPosition},
    progress,
};

/// Fit Viveka's integer weights to a labelled library.
///
/// Prints how the weights did in five-fold cross-validation by opening, then the weights.
#[derive(Debug, clap::Args)]
pub struct Fit {
    /// Labelled positions, .jsonl or .jsonl.zst.
    #[arg(value_name = "LIBRARY")]
    library: PathBuf,
    /// The weight file to write.
    #[arg(short, long, value_name = "FILE", default_value = "viveka.json")]
    output: PathBuf,
    /// Also write the core's weight table (Rust source) here.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Openings kept out of the fit, for `judge --held-out`.
    #[arg(long, value_name = "N", default_value_t = 0)]
    hold_out: usize,
    /// Seed of the choice of openings held out.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    cache: Cache,
}

/// A position with its features.
type Row<'a> = (&'a LabelledPosition, &'a Features);

impl Fit {
    /// Fits, reports and writes.
    ///
    /// # Errors
    /// [`crate::error::UserError`] for a broken library or an unwritable output.
    pub fn run(self) -> Result<()> {
        files::require_writable(&self.output)?;
        if let Some(table) = &self.table {
            files::require_writable(table)?;
        }
        let positions = library::read(&self.library)?;
        let names = openings::names(positions.iter());
        let split = openings::split(&names, self.hold_out, self.seed)?;
        let features = self.cache.features(&positions)?;
        let rows: Vec<Row> = positions
            .iter()
            .zip(&features)
            .filter(|(p, _)| split.fitted.binary_search(&p.opening).is_ok())
            .collect();
        let cross_validated = cross_validate(&rows, &split)?;
        let weights = fit_all(&rows)?;
        // Saved first: a reader of standard output that goes away must not cost the fit.
        self.save(&weights, rows.len(), split)?;
        cross_validated.print()?;
        print_weights(&weights)
    }

    fn save(&self, weights: &Weights, positions: usize, split: Split) -> Result<()> {
        if let Some(path) = &self.table {
            weights::save_table(weights, positions, split.fitted.len(), path)?;
        }
        let file = WeightsFile {
            terms: WeightsFile::rows(weights),
            check_percent: weights.check_percent,
            temperature: weights.temperature,
            critical_entropy: weights.critical_entropy,
            positions,
            seed: self.seed,
            fitted: split.fitted,
            held_out: split.held_out,
        };
        file.save(&self.output)
    }
}

/// Score, scan, β and the critical threshold, all from `rows`.
fn fit_all(rows: &[Row]) -> Result<Weights> {
    let mut weights = weights::round(&fit::fit_score(rows), &fit::fit_scan(rows))?;
    let judged = judge::examine(rows, &weights);
    weights.check_percent = check::fit_beta(&weights, &judged);
    weights.temperature = check::fit_temperature(&judged);
    weights.critical_entropy = check::fit_critical(&weights, &judged);
    Ok(weights)
}

/// Figures of the cross-validation.
struct CrossValidated {
    positions: usize,
    openings: usize,
    /// Mean losses of random, score, score on eight candidates, and with the check.
    losses: [f64; 4],
    /// Share of positions with the best move among eight.
    recall: f64,
}

/// Fits on four folds of openings and judges the fifth, five times.
fn cross_validate(rows: &[Row], split: &Split) -> Result<CrossValidated> {
    let (mut losses_sum, mut recall) = ([0.0; 4], 0.0);
    let bar = progress::bar(FOLDS as u64, "folds");
    for fold in 0..FOLDS {
        let in_fold = |row: &&Row| openings::fold(&split.fitted, &row.0.opening) == fold;
        let (test, train): (Vec<Row>, Vec<Row>) = rows.iter().copied().partition(|r| in_fold(&r));
        let weights = fit_all(&train)?;
        let judged = judge::examine(&test, &weights);
        let n = judged.len() as f64;
        for (sum, loss) in losses_sum.iter_mut().zip(losses(&judged, &weights)) {
            *sum += n * loss;
        }
        recall += n * judge::recall_at(&judged, CANDIDATES, |p, i| p.loss(i) == 0);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let n = rows.len() as f64;
    Ok(CrossValidated {
        positions: rows.len(),
        openings: split.fitted.len(),
        losses: losses_sum.map(|sum| sum / n),
        recall: recall / n,
    })
}

impl CrossValidated {
    fn print(&self) -> Result<()> {
        let [random, score, at_8, checked] = self.losses;
        let mut out = io::stdout().lock();
        writeln!(out, "{} positions of {} openings", self.positions, self.openings)?;
        writeln!(out, "cross-validated mean loss, cp (share of random's):")?;
        writeln!(out, "  random          {random:6.1}")?;
        for (name, loss) in [("score", score), ("score@8", at_8), ("score@8+check", checked)] {
            writeln!(out, "  {name:15} {loss:6.1} ({:.3})", loss / random)?;
        }
        writeln!(out, "scan: best move among {CANDIDATES} in {:.1} %", 100.0 * self.recall)?;
        Ok(())
    }
}

/// Mean loss of random, score, score on eight candidates, and with the check.
fn losses(judged: &[Judged], weights: &Weights) -> [f64; 4] {
    [
        judge::random_loss(judged),
        judge::choice(judged, |p| p.score()).mean_loss,
        judge::choice(judged, |p| p.score_at_8()).mean_loss,
        judge::choice(judged, |p| p.checked(weights)).mean_loss,
    ]
}

fn print_weights(weights: &Weights) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{:18} {:>6} {:>6}  meaning", "term", "score", "scan")?;
    for ((name, score, scan), term) in weights.rows.iter().zip(&TERMS) {
        writeln!(out, "{name:18} {score:6} {scan:6}  {}", term.meaning)?;
    }
    let beta = f64::from(weights.check_percent) / 100.0;
    writeln!(
        out,
        "beta {beta:.2}, temperature {} points, critical below {} millinats",
        weights.temperature, weights.critical_entropy
    )?;
    Ok(())
}
