//! `kibitzer report`: a page with every table and figure about Viveka on a library.
use std::{fs, path::PathBuf};

use anyhow::Result;

use crate::{
    engine::{self, Engine, Setup},
    files, progress,
    report::{
        backward,
        choices::{self, Chooser},
        evolution,
        experiments::Experiment,
        information,
        page::Page,
        positional, provenance,
        study::{Source, Study},
        tail,
    },
};

/// Write a page with every table and figure about Viveka on a labelled library.
///
/// Everything is fitted on some of the openings; the figures are of those held out. The page is
/// `report.md` in the output folder, its figures are in `figures/` there.
#[derive(Debug, clap::Args)]
pub struct Report {
    #[command(flatten)]
    source: Source,
    /// The folder to write.
    #[arg(short, long, value_name = "DIR", default_value = "report")]
    output: PathBuf,
    /// Also judge a UCI engine, given by its command; may be repeated.
    #[arg(long, value_name = "COMMAND")]
    engine: Vec<String>,
    /// The engines' search depths in plies.
    #[arg(long, value_name = "PLIES", value_delimiter = ',', default_values_t = [1, 4],
        value_parser = clap::value_parser!(u32).range(1..))]
    depth: Vec<u32>,
}

impl Report {
    /// Fits, measures and writes.
    ///
    /// # Errors
    /// [`crate::error::UserError`] for a broken library or engine, or an unwritable folder.
    pub fn run(self) -> Result<()> {
        // A misspelt engine must not cost the time of the fits.
        for command in &self.engine {
            Engine::start(&Setup::new(command))?;
        }
        let new = !self.output.exists();
        files::require_folder(&self.output)?;
        let page = Study::new(self.source.clone()).and_then(|study| self.page(&study));
        if page.is_err() && new {
            // Only a folder that is still empty can be removed thus.
            let _ = fs::remove_dir(&self.output);
        }
        let path = page?.write(&self.output)?;
        tracing::info!("{} is written", path.display());
        Ok(())
    }

    fn page(&self, study: &Study) -> Result<Page> {
        let mut page = Page::new("Viveka on a labelled library");
        let rows = study.held_out_rows();
        let judged = study.examine(&rows);
        let mut choosers = Chooser::own(study, &judged);
        let viveka = choosers[choosers.len() - 1].clone();
        for command in &self.engine {
            for &depth in &self.depth {
                let bar = progress::bar(rows.len() as u64, "positions");
                let positions = rows.iter().map(|row| row.0);
                let (name, chosen) = engine::choose(command, depth, positions, || bar.inc(1))?;
                bar.finish_and_clear();
                let choices = chosen.into_iter().map(|i| vec![i]).collect();
                choosers.push(Chooser { name, choices });
            }
        }
        tracing::info!("measuring on {} positions held out", rows.len());
        page.section("1. Data and split");
        provenance::section(&mut page, study)?;
        page.section("2. Scan");
        choices::scan(&mut page, &judged)?;
        page.section("3. Weights");
        choices::weights(&mut page, study);
        page.section("4. Positional values");
        positional::section(&mut page, &study.positional()?)?;
        page.section("5. Time evolution");
        page.part("Forward");
        evolution::section(&mut page, &study.positions)?;
        page.part("Backward");
        backward::section(&mut page, study, &rows, &viveka);
        page.section("6. Information and entropy");
        information::section(&mut page, study, &judged)?;
        page.section("7. Selection");
        choices::selection(&mut page, study)?;
        page.section("8. Results");
        choices::results(&mut page, &judged, &choosers)?;
        page.section("9. The tail");
        tail::section(&mut page, &rows, &choosers, &viveka, &study.fitted.weights)?;
        page.section("10. Tested and rejected");
        for experiment in Experiment::ALL {
            experiment.run(&mut page, study)?;
        }
        Ok(page)
    }
}
