//! Checkpoints: folders that appear whole or not at all.
//!
//! `step-00001000/` in a run's folder holds `model.safetensors`, `optimizer.safetensors` (the
//! tensors of both moments under `m.` and `v.`) and `state.json`; a run that keeps an average of
//! its weights has it in `ema.safetensors`, a network like the other.
mod checksum;
mod retention;
mod state;

use std::{
    collections::BTreeMap,
    fs, iter,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use checksum::Summing;
use kibitzer_gpu::{LossScale, OptimizerState};
pub use retention::Hold;
pub use state::{Best, State};

use crate::{
    error::UserError,
    files,
    model::{Model, read_tensors, write_tensors},
};

/// The file of the network in a checkpoint.
pub const MODEL: &str = "model.safetensors";
/// The file of the averaged weights.
pub const AVERAGE: &str = "ema.safetensors";
const OPTIMIZER: &str = "optimizer.safetensors";
const STATE: &str = "state.json";
/// What the names of checkpoints start with.
const PREFIX: &str = "step-";
const MOMENTS: [&str; 2] = ["m.", "v."];

/// Everything that a run needs to go on.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The network.
    pub model: Model,
    /// The optimizer's memory.
    pub optimizer: OptimizerState,
    /// The average of the weights, where the run keeps one.
    pub average: Option<Vec<f32>>,
    /// Where the run stands.
    pub state: State,
}

impl Checkpoint {
    /// Writes the checkpoint into the folder `run` and removes the others but the `newest` ones,
    /// this included, and the best one. It is written under a temporary name, synced and renamed.
    ///
    /// # Errors
    /// [`UserError`] if the folder cannot be written.
    pub fn save(&self, run: &Path, newest: usize) -> Result<PathBuf> {
        let folder = run.join(format!("{PREFIX}{:08}", self.state.step));
        if folder.exists() {
            return Ok(folder);
        }
        let temporary = tempfile::Builder::new()
            .prefix(&format!(".{PREFIX}"))
            .suffix(".tmp")
            .tempdir_in(run)
            .map_err(|error| UserError::cannot_write(run, &error))?;
        let config = &self.model.config;
        let write = |name: &str, parts: &[(&str, &[f32])]| -> Result<(String, String)> {
            let sum = files::synced_write(&temporary.path().join(name), run, |file| {
                let mut file = Summing::new(file);
                write_tensors(&mut file, config, parts)?;
                Ok(file.finish())
            })?;
            Ok((name.to_owned(), sum))
        };
        let moments = [(MOMENTS[0], &self.optimizer.m[..]), (MOMENTS[1], &self.optimizer.v[..])];
        let mut checksums: BTreeMap<_, _> =
            [write(MODEL, &[("", &self.model.parameters)])?, write(OPTIMIZER, &moments)?].into();
        if let Some(average) = &self.average {
            checksums.extend([write(AVERAGE, &[("", average)])?]);
        }
        let state = State {
            skipped: self.state.step - self.optimizer.step,
            loss_scale: self.optimizer.loss_scale.map(|s| (s.scale, s.good_steps)),
            checksums,
            ..self.state.clone()
        };
        files::synced_write(&temporary.path().join(STATE), run, |file| state.write(file))?;
        readable_by_umask(temporary.path())?;
        files::sync_folder(temporary.path())?;
        fs::rename(temporary.path(), &folder)
            .map_err(|error| UserError::cannot_write(&folder, &error))?;
        // The folder is under its final name: there is nothing left to clean up.
        let _ = temporary.keep();
        files::sync_folder(run)?;
        retention::prune(run, newest, self.state.best.map(|best| best.step))?;
        Ok(folder)
    }

    /// Reads the checkpoint in `folder`.
    ///
    /// # Errors
    /// [`UserError`] if a file is missing, damaged, or belongs to another architecture.
    pub fn load(folder: &Path) -> Result<Checkpoint> {
        let mut state = State::load(&folder.join(STATE))?;
        let checksums = std::mem::take(&mut state.checksums);
        let read = |name: &str, prefixes: &[&str]| -> Result<Vec<Vec<f32>>> {
            let path = folder.join(name);
            let bytes = fs::read(&path).map_err(|error| UserError::cannot_read(&path, &error))?;
            let (config, parts) = read_tensors(&bytes, &path, prefixes)?;
            if config != state.config {
                return Err(state.foreign(&path, &config).into());
            }
            require_sum(&path, &bytes, checksums.get(name))?;
            Ok(parts)
        };
        let parameters = read(MODEL, &[""])?.remove(0);
        let [m, v] = read(OPTIMIZER, &MOMENTS)?.try_into().expect("as many parts as prefixes");
        let average = state.settings.ema.map(|_| read(AVERAGE, &[""])).transpose()?;
        let loss_scale =
            state.loss_scale.map(|(scale, good_steps)| LossScale { scale, good_steps });
        let step = state.step.saturating_sub(state.skipped);
        Ok(Checkpoint {
            model: Model { config: state.config.clone(), parameters },
            optimizer: OptimizerState { step, m, v, loss_scale },
            average: average.map(|mut parts| parts.remove(0)),
            state,
        })
    }
}

/// Checks that `bytes`, those of the file `path`, are what the checkpoint's state recorded when it
/// was written. A file that lies beside no such state, or of which it says nothing, passes.
///
/// # Errors
/// [`UserError`] if they are damaged, or the state is.
pub fn require_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let recorded = state::checksums(&files::folder_of(path).join(STATE))?;
    let name = path.file_name().and_then(|name| name.to_str());
    match name.and_then(|name| recorded.get(name)) {
        Some(wanted) => require_sum(path, bytes, Some(wanted)),
        None => Ok(()),
    }
}

/// Checks the bytes of a checkpoint's file.
fn require_sum(path: &Path, bytes: &[u8], wanted: Option<&String>) -> Result<()> {
    let found = checksum::of(bytes);
    if wanted == Some(&found) {
        return Ok(());
    }
    let wanted = wanted.map_or("none", String::as_str);
    let what = format!("damaged: its CRC-32 is {found} where {STATE} has {wanted}");
    let mend = "take another checkpoint or start a new run";
    Err(UserError::new(what, path.display(), mend).into())
}

/// The checkpoint that `path` stands for: itself, or the newest one in a run's folder.
///
/// # Errors
/// [`UserError`] if the folder cannot be read.
pub fn newest(path: &Path) -> Result<Option<PathBuf>> {
    if path.join(MODEL).is_file() {
        return Ok(Some(path.to_owned()));
    }
    Ok(retention::all(path)?.pop().map(|(_, folder)| folder))
}

/// The newest whole checkpoint of the run in `run`, and its folder. `newest` is tried first; the
/// damaged ones are named in warnings and put aside as `damaged-step-…`, once a whole one is found.
///
/// # Errors
/// [`UserError`] that tells what the newest one lacks if none is whole, or if one was written by
/// another version of this program; nothing is then changed.
pub fn newest_whole(run: &Path, newest: PathBuf) -> Result<(Checkpoint, PathBuf)> {
    let older = retention::all(run)?.into_iter().rev().map(|(_, folder)| folder);
    let older = older.filter(|folder| *folder != newest);
    let mut damaged: Vec<(PathBuf, anyhow::Error)> = vec![];
    for folder in iter::once(newest.clone()).chain(older) {
        match Checkpoint::load(&folder) {
            Ok(checkpoint) => {
                for (damaged, error) in damaged {
                    let aside = retention::put_aside(&damaged)?;
                    tracing::warn!(
                        "{error}; going on from {}, and {} is kept as {}",
                        folder.display(),
                        damaged.display(),
                        aside.display()
                    );
                }
                return Ok((checkpoint, folder));
            }
            Err(error) if State::is_of_this_version(&folder.join(STATE)) => {
                damaged.push((folder, error))
            }
            Err(error) => return Err(error),
        }
    }
    Err(damaged.swap_remove(0).1)
}

/// The checkpoint of the run in `run` that did best on its held-out examples.
///
/// # Errors
/// [`UserError`] if the folder is no run's or nothing was measured.
pub fn best(run: &Path) -> Result<PathBuf> {
    let checkpoints = retention::all(run)?;
    let newest = checkpoints.last();
    let state = newest.map(|(_, folder)| State::load(&folder.join(STATE))).transpose()?;
    let step = state.and_then(|state| state.best).map(|best| best.step);
    let found = checkpoints.into_iter().find(|(other, _)| Some(*other) == step);
    let mend = "name the folder of a run that has validated, or leave --best out";
    let none = || UserError::new("no best checkpoint", run.display(), mend);
    Ok(found.ok_or_else(none)?.1)
}

/// Temporary folders are private; a checkpoint is as readable as the run's folder.
fn readable_by_umask(folder: &Path) -> Result<()> {
    let run = files::folder_of(folder);
    fs::set_permissions(folder, fs::metadata(run)?.permissions()).context("sharing a checkpoint")
}
