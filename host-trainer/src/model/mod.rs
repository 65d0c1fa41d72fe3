//! A network in full precision: configuration and parameters, and the file that PyTorch reads.
mod axes;
mod config_json;
mod grow;
mod tensors_file;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;
pub use config_json::{config_from_json, config_to_json, hash_text};
pub use grow::{Growth, grow};
use kibitzer_core::net::{Config, kbz::MAGIC};
pub use tensors_file::{read_tensors, write_tensors};

use crate::{checkpoint, error::UserError, files::atomic_write};

/// A configuration and its parameters, in the order of [`kibitzer_core::net::tensors`].
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The architecture.
    pub config: Config,
    /// All parameters, flat.
    pub parameters: Vec<f32>,
}

/// Which of a run's weights to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::Args)]
pub struct Choice {
    /// Take the average of the weights, of a run trained with --ema.
    #[arg(long)]
    pub ema: bool,
    /// Take a run's best checkpoint on its held-out examples instead of the newest.
    #[arg(long)]
    pub best: bool,
}

impl Choice {
    /// Whether it asks for what only a run's folder has.
    pub fn is_special(self) -> bool {
        self != Choice::default()
    }
}

impl Model {
    /// Reads a `model.safetensors`, the one in a checkpoint folder, or the one in the newest
    /// checkpoint of a run's folder.
    ///
    /// # Errors
    /// [`UserError`] if there is none or it is not a whole network of this program's.
    pub fn load(path: &Path) -> Result<Model> {
        Model::choose(path, Choice::default())
    }

    /// As [`Model::load`], with a choice among what a run or a checkpoint has.
    ///
    /// # Errors
    /// [`UserError`] if what is asked for is not there, not a whole network of this program's, or
    /// not what its checkpoint recorded.
    pub fn choose(path: &Path, choice: Choice) -> Result<Model> {
        let file = model_file(path, choice)?;
        let bytes = fs::read(&file).map_err(|error| UserError::cannot_read(&file, &error))?;
        if bytes.starts_with(&MAGIC) {
            let mend = "give the float network that it was made of";
            return Err(UserError::new("a quantized network", file.display(), mend).into());
        }
        let (config, mut parts) = read_tensors(&bytes, &file, &[""])?;
        checkpoint::require_whole(&file, &bytes)?;
        Ok(Model { config, parameters: parts.remove(0) })
    }

    /// Writes `path`, as the reference's `save` does.
    ///
    /// # Errors
    /// [`UserError`] if the folder cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        atomic_write(path, |file| write_tensors(file, &self.config, &[("", &self.parameters)]))
    }
}

/// The file that `path` stands for.
fn model_file(path: &Path, choice: Choice) -> Result<PathBuf> {
    if !path.is_dir() && choice.is_special() {
        let (what, mend) = ("one set of weights, not a run's", "leave --ema and --best out");
        return Err(UserError::new(what, path.display(), mend).into());
    }
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let folder =
        if choice.best { Some(checkpoint::best(path)?) } else { checkpoint::newest(path)? };
    if let Some(folder) = folder {
        let name = if choice.ema { checkpoint::AVERAGE } else { checkpoint::MODEL };
        let file = folder.join(name);
        if choice.ema && !file.exists() {
            let mend = "leave --ema out, or train with --ema DECAY";
            return Err(UserError::new("no averaged weights", folder.display(), mend).into());
        }
        return Ok(file);
    }
    let what = format!("no {} in the folder", checkpoint::MODEL);
    let mend = "name a model.safetensors, a checkpoint or a run's folder";
    Err(UserError::new(what, path.display(), mend).into())
}
