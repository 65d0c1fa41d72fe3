//! Where a run starts: fresh, with given weights, or from a checkpoint.
use std::{fs, path::Path};

use anyhow::Result;
use kibitzer_core::net::{self, Config, parameter_count};
use kibitzer_gpu::{OptimizerState, initialise};

use super::launch::Launch;
use crate::{
    checkpoint::{self, Checkpoint, Hold, State},
    error::UserError,
    examples::Examples,
    files, host_memory,
    model::{Growth, Model, config_from_json, grow},
    train::Settings,
};

/// The architecture of a run that names none: one that learns in minutes.
const DEFAULT_PRESET: &str = "demo";

/// A run that is about to start.
pub struct Start {
    /// Where it stands.
    pub checkpoint: Checkpoint,
    /// The place of the weights that it was given.
    pub from: Option<String>,
    /// Its folder, while this lives.
    pub _hold: Hold,
}

impl Launch {
    pub(super) fn start(&self, examples: &dyn Examples) -> Result<Start> {
        if self.resume { self.resumed(examples) } else { self.fresh(examples) }
    }

    /// A new run in a folder that holds none yet.
    fn fresh(&self, examples: &dyn Examples) -> Result<Start> {
        let (mut settings, model) = self.first_model()?;
        settings.held_out = examples.share(self.wanted.held_out, settings.held_out)?;
        let hold = self.new_folder()?;
        let optimizer = OptimizerState::new(model.parameters.len());
        let device = self.device.unwrap_or_default();
        let mut state = State::new(model.config.clone(), settings, examples.name(), device);
        state.precision = self.precision.unwrap_or_default();
        let checkpoint = Checkpoint { model, optimizer, average: None, state };
        let from = self.from.as_ref().map(|path| path.display().to_string());
        Ok(Start { checkpoint, from, _hold: hold })
    }

    /// The settings of a new run and its network before the first step.
    pub(super) fn first_model(&self) -> Result<(Settings, Model)> {
        let (config, base) = self.architecture()?;
        let given = self.from.as_deref().map(Model::load).transpose()?;
        let settings = self.wanted.over(&base);
        settings.validate()?;
        let model = match (given, config) {
            (Some(given), None) => given,
            (Some(given), Some(config)) => {
                let place = self.from.as_deref().unwrap_or(Path::new("")).display();
                let mend = "give a --preset or --config that is as large in everything";
                let grown = grow(&given, &config, settings.seed);
                let (model, growth) = grown.map_err(|what| UserError::new(what, place, mend))?;
                tell(&growth);
                model
            }
            (None, config) => {
                let config = config.map_or_else(|| preset(DEFAULT_PRESET), Ok)?;
                host_memory::require(copies(&config, settings.ema.is_some()))?;
                Model { parameters: initialise(&config, settings.seed), config }
            }
        };
        Ok((settings, model))
    }

    /// The settings of a new run and its architecture; nothing large is allocated.
    ///
    /// # Errors
    /// As [`Launch::first_model`].
    pub(super) fn first_config(&self) -> Result<(Settings, Config)> {
        let (config, base) = self.architecture()?;
        let settings = self.wanted.over(&base);
        settings.validate()?;
        let config = match (config, &self.from) {
            (Some(config), _) => config,
            (None, Some(from)) => Model::load(from)?.config,
            (None, None) => preset(DEFAULT_PRESET)?,
        };
        Ok((settings, config))
    }

    /// The newest whole checkpoint, if architecture, settings and examples are still the same.
    fn resumed(&self, examples: &dyn Examples) -> Result<Start> {
        let newest = if self.output.is_dir() { checkpoint::newest(&self.output)? } else { None };
        let Some(folder) = newest else {
            let (place, mend) = (self.output.display(), "start the run without --resume");
            return Err(UserError::new("no checkpoint to resume from", place, mend).into());
        };
        files::require_folder(&self.output)?;
        let hold = Hold::take(&self.output)?;
        let (mut start, folder) = checkpoint::newest_whole(&self.output, folder)?;
        if let Some(config) = self.architecture()?.0.filter(|c| *c != start.state.config) {
            return Err(start.state.foreign(&folder, &config).into());
        }
        let settings = self.wanted.over(&start.state.settings);
        settings.validate()?;
        if let Some((name, here, there)) = settings.difference(&start.state.settings) {
            let what = format!("{name} is {here} where the run has {there}");
            let mend = "leave the flag out or choose another folder";
            return Err(UserError::new(what, folder.display(), mend).into());
        }
        if examples.name() != start.state.examples {
            let what = "other positions or targets than the run has learned from";
            let mend = "name the run's own or choose another folder";
            return Err(UserError::new(what, examples.place(), mend).into());
        }
        if settings.steps < start.state.step {
            let done = start.state.step;
            let what = format!("{} steps where {done} are done", settings.steps);
            let mend = "ask for more steps, or take the run as it is";
            return Err(UserError::new(what, "--steps", mend).into());
        }
        start.state.settings = settings;
        if let Some(precision) = self.precision.filter(|p| *p != start.state.precision) {
            let what = format!(
                "precision {} where the run has {}",
                precision.name(),
                start.state.precision.name()
            );
            let mend = "leave the flag out or choose another folder";
            return Err(UserError::new(what, folder.display(), mend).into());
        }
        if let Some(device) = self.device.filter(|&device| device != start.state.device) {
            let then = start.state.device.name();
            tracing::warn!("the run computed on --device {then}: losses may differ by rounding");
            start.state.device = device;
        }
        Ok(Start { checkpoint: start, from: None, _hold: hold })
    }

    /// The architecture that the flags name, if they do, and the settings that suit it.
    pub(super) fn architecture(&self) -> Result<(Option<Config>, Settings)> {
        if let Some(path) = &self.config {
            return Ok((Some(read_config(path)?), Settings::suiting(None)));
        }
        let Some(name) = self.preset.as_deref() else {
            return Ok((None, Settings::suiting(Some(DEFAULT_PRESET))));
        };
        Ok((Some(preset(name)?), Settings::suiting(Some(name))))
    }
}

/// Bytes of a network with its optimizer's memory where a run starts, and again where it is saved;
/// the device's own are not counted.
fn copies(config: &Config, average: bool) -> u64 {
    2 * 4 * (3 + u64::from(average)) * parameter_count(config) as u64
}

/// Says what became of the weights.
fn tell(growth: &Growth) {
    tracing::info!("{growth}; what is new adds nothing yet");
    for (what, names) in
        [("copied", &growth.copied), ("grown", &growth.grown), ("fresh", &growth.fresh)]
    {
        if !names.is_empty() {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            tracing::info!("{what}: {}", names.join(", "));
        }
    }
}

fn preset(name: &str) -> Result<Config> {
    let Some(preset) = net::preset(name) else {
        let names: Vec<&str> = net::PRESETS.iter().map(|preset| preset.name).collect();
        let mend = format!("use one of {}", names.join(", "));
        return Err(UserError::new("no such preset", format!("--preset {name}"), mend).into());
    };
    Ok(preset.config())
}

fn read_config(path: &Path) -> Result<Config> {
    let text = fs::read_to_string(path).map_err(|error| UserError::cannot_read(path, &error))?;
    let mend = "write a JSON object with the fields of a checkpoint's configuration";
    Ok(config_from_json(&text).map_err(|what| UserError::new(what, path.display(), mend))?)
}
