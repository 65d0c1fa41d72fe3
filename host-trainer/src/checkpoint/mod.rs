//! Checkpoints: folders that appear whole or not at all.
//!
//! `step-00001000/` in a run's folder holds `model.safetensors`, `optimizer.safetensors` (the
//! tensors of both moments under `m.` and `v.`) and `state.json`.
mod state;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use kibitzer_gpu::{LossScale, OptimizerState};
pub use state::State;

use crate::{
    error::UserError,
    files::{self, atomic_write},
    model::{Model, read_tensors, write_tensors},
};

/// The file of the network in a checkpoint.
pub const MODEL: &str = "model.safetensors";
const OPTIMIZER: &str = "optimizer.safetensors";
const STATE: &str = "state.json";
const PREFIX: &str = "step-";
/// Checkpoints that a run keeps.
const KEPT: usize = 2;
const MOMENTS: [&str; 2] = ["m.", "v."];

/// Everything that a run needs to go on.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The network.
    pub model: Model,
    /// The optimizer's memory.
    pub optimizer: OptimizerState,
    /// Where the run stands.
    pub state: State,
}

impl Checkpoint {
    /// Writes the checkpoint into the folder `run` and removes the oldest ones. It is written
    /// under a temporary name, synced and renamed.
    ///
    /// # Errors
    /// [`UserError`] if the folder cannot be written.
    pub fn save(&self, run: &Path) -> Result<PathBuf> {
        let folder = run.join(format!("{PREFIX}{:08}", self.state.step));
        if folder.exists() {
            return Ok(folder);
        }
        let temporary = tempfile::Builder::new()
            .prefix(&format!(".{PREFIX}"))
            .suffix(".tmp")
            .tempdir_in(run)
            .map_err(|error| UserError::cannot_write(run, &error))?;
        self.model.save(&temporary.path().join(MODEL))?;
        let moments = [(MOMENTS[0], &self.optimizer.m[..]), (MOMENTS[1], &self.optimizer.v[..])];
        atomic_write(&temporary.path().join(OPTIMIZER), |file| {
            write_tensors(file, &self.model.config, &moments)
        })?;
        let state = State {
            skipped: self.state.step - self.optimizer.step,
            loss_scale: self.optimizer.loss_scale.map(|s| (s.scale, s.good_steps)),
            ..self.state.clone()
        };
        state.save(&temporary.path().join(STATE))?;
        readable_by_umask(temporary.path())?;
        files::sync_folder(temporary.path())?;
        fs::rename(temporary.path(), &folder).context("renaming a checkpoint")?;
        // The folder is under its final name: there is nothing left to clean up.
        let _ = temporary.keep();
        files::sync_folder(run)?;
        prune(run)?;
        Ok(folder)
    }

    /// Reads the checkpoint in `folder`.
    ///
    /// # Errors
    /// [`UserError`] if a file is missing, damaged, or belongs to another architecture.
    pub fn load(folder: &Path) -> Result<Checkpoint> {
        let state = State::load(&folder.join(STATE))?;
        let model = Model::load(&folder.join(MODEL))?;
        let path = folder.join(OPTIMIZER);
        let bytes = fs::read(&path).map_err(|error| UserError::cannot_read(&path, &error))?;
        let (config, mut moments) = read_tensors(&bytes, &path, &MOMENTS)?;
        let parts = [(MODEL, &model.config), (OPTIMIZER, &config)];
        if let Some((name, other)) = parts.into_iter().find(|part| *part.1 != state.config) {
            return Err(state.foreign(&folder.join(name), other).into());
        }
        let [m, v] = [moments.remove(0), moments.remove(0)];
        let loss_scale =
            state.loss_scale.map(|(scale, good_steps)| LossScale { scale, good_steps });
        let step = state.step.saturating_sub(state.skipped);
        let optimizer = OptimizerState { step, m, v, loss_scale };
        Ok(Checkpoint { model, optimizer, state })
    }
}

/// The checkpoint that `path` stands for: itself, or the newest one in a run's folder.
///
/// # Errors
/// [`UserError`] if the folder cannot be read.
pub fn newest(path: &Path) -> Result<Option<PathBuf>> {
    if path.join(MODEL).is_file() {
        return Ok(Some(path.to_owned()));
    }
    Ok(all(path)?.pop())
}

/// The run's checkpoints, oldest first.
fn all(run: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(run).map_err(|error| UserError::cannot_read(run, &error))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(step) = name.and_then(|n| n.strip_prefix(PREFIX)?.parse::<u64>().ok()) {
            found.push((step, path));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

fn prune(run: &Path) -> Result<()> {
    let checkpoints = all(run)?;
    for old in checkpoints.iter().rev().skip(KEPT) {
        fs::remove_dir_all(old).with_context(|| format!("removing {}", old.display()))?;
    }
    Ok(())
}

/// Temporary folders are private; a checkpoint is as readable as the run's folder.
fn readable_by_umask(folder: &Path) -> Result<()> {
    let run = files::folder_of(folder);
    fs::set_permissions(folder, fs::metadata(run)?.permissions()).context("sharing a checkpoint")
}
