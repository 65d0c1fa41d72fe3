//! `kibitzer experiment`: what was tried and rejected, tried again.
use std::io::{self, Write as _};

use anyhow::Result;

use crate::report::{
    experiments::Experiment,
    page::Page,
    study::{Source, Study},
};

/// Try again what was tried and rejected, on a labelled library.
///
/// Everything is fitted on some of the openings. Prints the figures, in Markdown, and the verdict
/// that follows from them.
#[derive(Debug, clap::Args)]
pub struct Try {
    /// What to try.
    #[arg(value_name = "EXPERIMENT")]
    experiment: Experiment,
    #[command(flatten)]
    source: Source,
}

impl Try {
    /// Makes the experiment.
    ///
    /// # Errors
    /// [`crate::error::UserError`] for a broken library.
    pub fn run(self) -> Result<()> {
        let study = Study::new(self.source)?;
        let mut page = Page::default();
        self.experiment.run(&mut page, &study)?;
        Ok(writeln!(io::stdout().lock(), "{}", page.text().trim())?)
    }
}
