//! `kibitzer plot`: charts of training runs.
use std::{
    io::{self, Write as _},
    path::PathBuf,
};

use anyhow::Result;

use crate::{
    files::{atomic_write, folder_of, require_writable},
    plot::{History, draw},
};

/// Name of the charts in a run's folder.
const NAME: &str = "plot.svg";

/// Draw training runs and trials: losses, validation, calibration, updates, noise, speed.
///
/// Several runs are drawn in the same charts. Prints the name of the file.
#[derive(Debug, clap::Args)]
pub struct Plot {
    /// Folders of runs, or one of their .jsonl files.
    #[arg(required = true)]
    runs: Vec<PathBuf>,
    /// The SVG to write [default: plot.svg in the first run's folder].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Plot {
    /// Draws.
    ///
    /// # Errors
    /// [`crate::error::UserError`] if metrics are missing or damaged, or the output cannot be
    /// written.
    pub fn run(self) -> Result<()> {
        let runs = self.runs.iter().map(|path| History::read(path));
        let runs: Vec<History> = runs.collect::<Result<_>>()?;
        let first = &self.runs[0];
        let folder = if first.is_dir() { first } else { folder_of(first) };
        let output = self.output.unwrap_or_else(|| folder.join(NAME));
        require_writable(&output)?;
        let svg = draw(&runs)?;
        atomic_write(&output, |file| Ok(file.write_all(svg.as_bytes())?))?;
        Ok(writeln!(io::stdout(), "{}", output.display())?)
    }
}
