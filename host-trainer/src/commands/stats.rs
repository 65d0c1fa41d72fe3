//! `kibitzer stats`: what is in a file.
use std::{
    io::{self, Write as _},
    path::PathBuf,
};

use anyhow::Result;
use serde::Serialize;

use crate::{
    files,
    stats::{Counts, Shared, draw},
};

/// Tell what is in a file: records, games, a labelled library, evaluations, FEN or EPD.
///
/// Counts positions by phase, result, pieces, legal moves, opening, depth and score, and tells
/// how sharp the targets are.
#[derive(Debug, clap::Args)]
pub struct Stats {
    /// The file.
    file: PathBuf,
    /// Also tell how many positions are in this file, too: of test data, none should be.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Draw the distributions as an SVG.
    #[arg(long, value_name = "SVG")]
    plot: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Output<'a> {
    #[serde(flatten)]
    counts: &'a Counts,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<Shared>,
}

impl Stats {
    /// Counts and prints.
    ///
    /// # Errors
    /// [`crate::error::UserError`] for a file that cannot be read, is damaged, or written.
    pub fn run(self) -> Result<()> {
        self.plot.iter().try_for_each(|path| files::require_writable(path))?;
        let counts = Counts::of(&self.file)?;
        let other = self.against.as_deref().map(Counts::of).transpose()?;
        let shared = other.as_ref().map(|other| counts.shared(other));
        if let Some(path) = &self.plot {
            let mut drawn = vec![(self.file.display().to_string(), &counts)];
            if let (Some(path), Some(counts)) = (&self.against, &other) {
                drawn.push((path.display().to_string(), counts));
            }
            let svg = draw(&drawn)?;
            files::atomic_write(path, |file| Ok(file.write_all(svg.as_bytes())?))?;
        }
        let mut out = io::stdout().lock();
        if self.json {
            let output = Output { counts: &counts, shared };
            return Ok(writeln!(out, "{}", serde_json::to_string(&output)?)?);
        }
        write!(out, "{counts}")?;
        if let (Some(Shared { positions, share, share_of_other }), Some(path)) =
            (shared, &self.against)
        {
            writeln!(
                out,
                "{positions} different positions ({:.2} %) are in {}, too ({:.2} % of it)",
                100.0 * share,
                path.display(),
                100.0 * share_of_other
            )?;
        }
        Ok(())
    }
}
