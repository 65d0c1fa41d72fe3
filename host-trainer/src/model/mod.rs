//! A network in full precision: configuration and parameters, and the file that PyTorch reads.
mod config_json;
mod tensors_file;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;
pub use config_json::{config_from_json, config_to_json, hash_text};
use kibitzer_core::net::Config;
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

impl Model {
    /// Reads a `model.safetensors`, the one in a checkpoint folder, or the one in the newest
    /// checkpoint of a run's folder.
    ///
    /// # Errors
    /// [`UserError`] if there is none or it is not a whole network of this program's.
    pub fn load(path: &Path) -> Result<Model> {
        let file = model_file(path)?;
        let bytes = fs::read(&file).map_err(|error| UserError::cannot_read(&file, &error))?;
        let (config, mut parts) = read_tensors(&bytes, &file, &[""])?;
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
fn model_file(path: &Path) -> Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    if let Some(folder) = checkpoint::newest(path)? {
        return Ok(folder.join(checkpoint::MODEL));
    }
    let what = format!("no {} in the folder", checkpoint::MODEL);
    let mend = "name a model.safetensors, a checkpoint or a run's folder";
    Err(UserError::new(what, path.display(), mend).into())
}
