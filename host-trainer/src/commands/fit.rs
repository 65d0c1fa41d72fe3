//! `kibitzer fit`: Viveka's weights from a labelled library.
use std::{
    io::{self, Write as _},
    path::PathBuf,
};

use anyhow::Result;
use kibitzer_core::viveka::{CANDIDATES, TERMS, Tapered, TermWeights};

use crate::{
    error::UserError,
    files,
    fit::{
        self, Fitted, Row,
        cache::Cache,
        column,
        cross::{self, CrossValidated},
        openings::{self, FOLDS, Split},
        select::Path,
        texel::{self, Positional, table::PositionalRecord},
        weights::{self, WeightsFile},
    },
    library::{self, LabelledPosition},
    progress,
};

/// Fit Viveka's integer weights to a labelled library.
///
/// Prints which terms were selected, how the whole fit did in five-fold cross-validation by
/// opening, and the weights; then the same of the positional features' weights. The files are
/// written before the cross-validation, which takes five times as long: interrupting it costs its
/// figures alone, and so does a fold with too little to fit.
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
    /// Also write the core's table of positional weights (Rust source) here.
    #[arg(long, value_name = "FILE")]
    positional_table: Option<PathBuf>,
    /// Openings kept out of the fit, for `judge --held-out`.
    #[arg(long, value_name = "N", default_value_t = 0)]
    hold_out: usize,
    /// Seed of the choice of openings held out.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    cache: Cache,
}

impl Fit {
    /// Fits, reports and writes.
    ///
    /// # Errors
    /// [`crate::error::UserError`] for a broken library or an unwritable output.
    pub fn run(self) -> Result<()> {
        files::require_writable(&self.output)?;
        for table in [&self.table, &self.positional_table].into_iter().flatten() {
            files::require_writable(table)?;
        }
        let positions = library::read(&self.library)?;
        let names = openings::names(positions.iter());
        let split = openings::split(&names, self.hold_out, self.seed)?;
        let positional = self.fit_positional(&positions, &split)?;
        let features = self.cache.features(&positions)?;
        let rows: Vec<Row> = positions
            .iter()
            .zip(&features)
            .filter(|(p, _)| split.fitted.binary_search(&p.opening).is_ok())
            .collect();
        // One more than the folds: the fit on all openings.
        let bar = progress::bar(FOLDS as u64 + 1, "fits");
        let fitted = fit::fit(&rows, &split.fitted)?;
        bar.inc(1);
        // Saved at once: neither an interrupted cross-validation nor a reader of standard output
        // that goes away must cost the fit.
        self.save(&fitted, positional.as_ref(), rows.len(), &split)?;
        let cross_validated = cross::cross_validate(&rows, &split.fitted, || bar.inc(1));
        bar.finish_and_clear();
        let mut out = io::stdout().lock();
        print_path(&mut out, "score", "loss, cp", &fitted.score)?;
        print_path(&mut out, "scan", "missed", &fitted.scan)?;
        match &cross_validated {
            Ok(found) => print_cross_validated(&mut out, found, split.fitted.len())?,
            // The fit on all openings stands and its files are written; only how it does on
            // openings left out cannot be told.
            Err(error) => writeln!(out, "not cross-validated, since in a fold {error:#}")?,
        }
        print_weights(&mut out, &fitted)?;
        if let Some(positional) = &positional {
            texel::report::print(&mut out, positional)?;
        }
        Ok(())
    }

    /// Fits the positional weights, where the lines allow it.
    fn fit_positional(
        &self,
        positions: &[LabelledPosition],
        split: &Split,
    ) -> Result<Option<Positional>> {
        let fitted = texel::fit(positions, split);
        if fitted.is_none() && self.positional_table.is_some() {
            let what = "the lines hold too few quiet positions for positional weights";
            let mend = "give a library with lines in top, or leave --positional-table out";
            return Err(UserError::new(what, self.library.display(), mend).into());
        }
        Ok(fitted)
    }

    fn save(
        &self,
        fitted: &Fitted,
        positional: Option<&Positional>,
        positions: usize,
        split: &Split,
    ) -> Result<()> {
        if let Some(path) = &self.table {
            weights::save_table(fitted, positions, split.fitted.len(), path)?;
        }
        if let (Some(path), Some(positional)) = (&self.positional_table, positional) {
            texel::table::save(positional, split.fitted.len(), path)?;
        }
        let weights = &fitted.weights;
        let file = WeightsFile {
            terms: WeightsFile::rows(weights),
            v1: WeightsFile::v1_rows(&fitted.v1),
            check_percent: weights.check_percent,
            temperature: weights.temperature.into(),
            critical_entropy: weights.critical_entropy,
            positions,
            seed: self.seed,
            fitted: split.fitted.clone(),
            held_out: split.held_out.clone(),
            positional: positional.map(PositionalRecord::from),
        };
        file.save(&self.output)
    }
}

fn print_path(out: &mut impl io::Write, what: &str, figure: &str, path: &Path) -> io::Result<()> {
    writeln!(out, "selection for the {what}, cross-validated; * marks the end of the set chosen")?;
    writeln!(out, "{:>7} {:28} {:>13} {figure:>9}", "weights", "joins", "cross-entropy")?;
    for (number, step) in (1..).zip(&path.steps) {
        let mark = if number == path.chosen { " *" } else { "" };
        let name = column::name(step.column);
        writeln!(
            out,
            "{number:7} {name:28} {:13.4} {:9.3}{mark}",
            step.cross_entropy, step.figure
        )?;
    }
    Ok(())
}

fn print_cross_validated(
    out: &mut impl io::Write,
    found: &CrossValidated,
    openings: usize,
) -> io::Result<()> {
    writeln!(out, "{} positions of {openings} openings", found.positions)?;
    writeln!(out, "cross-validated mean loss, selection included, cp (share of random's):")?;
    let random = found.losses[0].1;
    for (name, loss) in &found.losses {
        writeln!(out, "  {name:15} {loss:6.1} ({:.3})", loss / random)?;
    }
    writeln!(
        out,
        "scan: best move among {CANDIDATES} in {:.1} %, one of the top three in {:.1} %",
        100.0 * found.recall_best,
        100.0 * found.recall_top3
    )?;
    writeln!(
        out,
        "entropy: AUC for critical positions {:.3}, Spearman with the engine's own {:.3}",
        found.auc, found.spearman
    )
}

fn print_weights(out: &mut impl io::Write, fitted: &Fitted) -> io::Result<()> {
    let Fitted { weights, v1, .. } = fitted;
    writeln!(
        out,
        "{:18} {:>10} {:>7} {:>6}  meaning",
        "score, points", "middlegame", "endgame", "scan"
    )?;
    for (row, term) in weights.rows.iter().zip(&TERMS).filter(|(row, _)| !row.is_zero()) {
        let TermWeights { name, score: Tapered { middlegame, endgame }, scan } = *row;
        writeln!(out, "{name:18} {middlegame:10} {endgame:7} {scan:6}  {}", term.meaning)?;
    }
    let beta = f64::from(weights.check_percent) / 100.0;
    writeln!(
        out,
        "beta {beta:.2}, temperature {} points in the middlegame and {} in the endgame, critical \
         below {} millinats",
        weights.temperature.middlegame, weights.temperature.endgame, weights.critical_entropy
    )?;
    let v1: Vec<String> = v1.iter().map(|(name, points)| format!("{name} {points}")).collect();
    writeln!(out, "v1: {}", v1.join(", "))
}
