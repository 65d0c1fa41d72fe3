//! `kibitzer train distill`: an engine's values of all moves.
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Result;

use super::launch::Launch;
use crate::{
    error::UserError,
    labels::{self, Choice, Distillation, FLAT, Sharpness, TEMPERATURE, Target, comments::View},
    pgn,
};

/// Learn an engine's values: the probability of each move follows its score, the value that of
/// the best move.
///
/// A move's target probability is exp(W / T), made to add up to one, with W the mover's winning
/// chance from 0 to 1 and T the temperature; the value's target is 2 W - 1 of the best move.
/// Where only some moves were evaluated, the others' probability is 0.
/// Equal positions count once. One opening in twenty is held out. Ctrl-C saves and stops;
/// --resume goes on.
#[derive(Debug, clap::Args)]
pub struct Distill {
    /// Labelled libraries, evaluations as Lichess publishes them (JSON lines), or games with
    /// engines' evaluations in the comments (PGN); each also .zst.
    #[arg(required = true)]
    libraries: Vec<PathBuf>,
    /// Temperature, in winning chances.
    #[arg(long, default_value_t = TEMPERATURE)]
    temperature: f64,
    /// The moves that share the probability: all, or so many of the best.
    #[arg(long, value_name = "all|8", default_value_t)]
    moves: Choice,
    /// Whose view the evaluations in games' comments are, where they do not show it.
    #[arg(long)]
    view: Option<View>,
    /// Train even if the targets hardly prefer one move to another.
    #[arg(long)]
    allow_flat: bool,
    #[command(flatten)]
    launch: Launch,
}

impl Distill {
    /// Trains to the end or until Ctrl-C.
    ///
    /// # Errors
    /// [`UserError`] for a wrong file, flag or configuration, or flat targets;
    /// [`crate::cli::Interrupted`] after Ctrl-C.
    pub fn run(self) -> Result<()> {
        let target = Target::new(self.temperature, self.moves)?;
        if self.launch.memory {
            return self.launch.print_memory();
        }
        // Reading takes a while: what can be found out before it, is.
        let once = |path: &Path| path.exists() && !path.is_file() || path == Path::new("-");
        let files = self.libraries.iter().filter(|path| !once(path));
        files.map(|path| pgn::open(path)).try_for_each(|file| file.map(drop))?;
        self.launch.check()?;
        let read = labels::read(&self.libraries, self.view)?;
        tracing::info!(
            "{} labelled positions in {:.1} MB; {} came again and count once",
            read.labels.len(),
            read.labels.bytes() as f64 / 1e6,
            read.again,
        );
        let numbers: Vec<u32> = (0..read.labels.len() as u32).collect();
        let sharpness = Sharpness::measure(&read.labels, &target, &numbers);
        tracing::info!("targets: {sharpness}");
        if sharpness.is_flat() && !self.allow_flat {
            return Err(flat(&sharpness, &self.libraries[0]).into());
        }
        self.launch.run(Arc::new(Distillation::new(read.labels, target, self.libraries)))
    }
}

fn flat(sharpness: &Sharpness, path: &Path) -> UserError {
    let what = format!(
        "the targets are nearly uniform (they tell {:.1} % of what one certain move would, less \
         than {:.0} %)",
        100.0 * sharpness.information(),
        100.0 * FLAT,
    );
    UserError::new(what, path.display(), "lower --temperature, or insist with --allow-flat")
}
