//! What every way of training has in common: its flags, and how a run is started or resumed.
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use anyhow::{Context as _, Result};
use kibitzer_core::net::{self, Config};
use kibitzer_gpu::{OptimizerState, initialise};

use crate::{
    checkpoint::{self, Checkpoint, State},
    cli::Interrupted,
    device::Device,
    error::UserError,
    evaluation::CHUNK,
    examples::Examples,
    files,
    model::{Model, config_from_json},
    train::{Outcome, Run, Settings},
};

/// The architecture of a run that names none: one that learns in minutes.
const DEFAULT_PRESET: &str = "demo";

/// The flags of a run.
#[derive(Debug, clap::Args)]
pub struct Launch {
    /// The run's folder, for checkpoints and metrics.jsonl.
    #[arg(short, long, value_name = "RUN")]
    output: PathBuf,
    /// A named architecture [default: demo].
    #[arg(long, conflicts_with = "config")]
    preset: Option<String>,
    /// An architecture in JSON, with the fields of a checkpoint's configuration.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Go on from the newest checkpoint in RUN.
    #[arg(long)]
    resume: bool,
    /// Start with the weights of this model.safetensors, checkpoint or run's folder, and with
    /// its architecture.
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["preset", "config", "resume"])]
    from: Option<PathBuf>,
    /// Where to compute.
    #[arg(long, value_enum, default_value_t)]
    device: Device,
    /// Steps between validations, each with a checkpoint [default: a twentieth of the run, at least 100].
    #[arg(long, value_name = "STEPS")]
    save_every: Option<u64>,
    /// Steps between diagnoses of a step (gradient noise, update ratios, calibration), 0 for
    /// none; they change no result [default: a two-hundredth of the run, at least 50].
    #[arg(long, value_name = "STEPS")]
    diagnose_every: Option<u64>,
    #[command(flatten)]
    wanted: Wanted,
}

/// What the flags say of the settings; the preset, or the run resumed, says the rest.
#[derive(Debug, clap::Args)]
struct Wanted {
    /// Steps of the optimizer.
    #[arg(long)]
    steps: Option<u64>,
    /// Positions a step.
    #[arg(long)]
    batch: Option<usize>,
    /// Peak of the learning rate.
    #[arg(long)]
    lr: Option<f32>,
    /// Weight of the value's squared error [default: 0.25].
    #[arg(long)]
    value_weight: Option<f32>,
    /// Decides the first parameters and the order of the positions.
    #[arg(long)]
    seed: Option<u64>,
    /// Share of the games or openings held out for validation [default: 0.05].
    #[arg(long, value_name = "SHARE")]
    held_out: Option<f64>,
}

impl Wanted {
    fn over(&self, base: &Settings) -> Settings {
        Settings {
            steps: self.steps.unwrap_or(base.steps),
            batch: self.batch.unwrap_or(base.batch),
            learning_rate: self.lr.unwrap_or(base.learning_rate),
            value_weight: self.value_weight.unwrap_or(base.value_weight),
            seed: self.seed.unwrap_or(base.seed),
            held_out: self.held_out.unwrap_or(base.held_out),
            ..base.clone()
        }
    }
}

impl Launch {
    /// Trains on `examples` to the end or until Ctrl-C.
    ///
    /// # Errors
    /// [`UserError`] for a wrong file, flag or configuration; [`Interrupted`] after Ctrl-C.
    pub fn run(self, examples: Arc<dyn Examples>) -> Result<()> {
        let start = if self.resume { self.resumed(&*examples) } else { self.fresh(&*examples) }?;
        let settings = &start.state.settings;
        tracing::info!(
            "{} parameters, {} steps of {} positions, from step {}",
            start.model.parameters.len(),
            settings.steps,
            settings.batch,
            start.state.step
        );
        let positions = settings.batch.max(CHUNK);
        let run = Run {
            backend: self.device.resume(&start.model, &start.optimizer, positions)?,
            save_every: self.save_every.unwrap_or((settings.steps / 20).max(100)).max(1),
            diagnose_every: self.diagnose_every.unwrap_or((settings.steps / 200).max(50)),
            state: start.state,
            folder: self.output,
            examples,
            loaders: loaders(),
            stop: stop_on_interrupt()?,
        };
        match run.train()? {
            Outcome::Finished(_) => Ok(()),
            Outcome::Stopped => {
                tracing::warn!("stopped; go on with --resume");
                Err(Interrupted.into())
            }
        }
    }

    /// Finds out what can be found out before the examples are read.
    ///
    /// # Errors
    /// [`UserError`] for a wrong flag, architecture or folder.
    pub fn check(&self) -> Result<()> {
        self.wanted.over(&self.architecture()?.1).validate()?;
        if self.resume { Ok(()) } else { self.check_folder() }
    }

    /// Makes the folder of a new run; it must hold none yet.
    fn check_folder(&self) -> Result<()> {
        files::require_folder(&self.output)?;
        if checkpoint::newest(&self.output)?.is_none() {
            return Ok(());
        }
        let mend = "go on with --resume or choose another folder";
        Err(UserError::new("there is a run already", self.output.display(), mend).into())
    }

    /// A new run in a folder that holds none yet.
    fn fresh(&self, examples: &dyn Examples) -> Result<Checkpoint> {
        let (config, base) = self.architecture()?;
        let given = self.from.as_deref().map(Model::load).transpose()?;
        let settings = self.wanted.over(&base);
        settings.validate()?;
        self.check_folder()?;
        let model = match given {
            Some(model) => model,
            None => initial(config.map_or_else(|| preset(DEFAULT_PRESET), Ok)?, settings.seed),
        };
        let optimizer = OptimizerState::new(model.parameters.len());
        let state = State::new(model.config.clone(), settings, examples.name());
        Ok(Checkpoint { model, optimizer, state })
    }

    /// The newest checkpoint, if architecture, settings and records are still the same.
    fn resumed(&self, examples: &dyn Examples) -> Result<Checkpoint> {
        let newest = if self.output.is_dir() { checkpoint::newest(&self.output)? } else { None };
        let Some(folder) = newest else {
            let (place, mend) = (self.output.display(), "start the run without --resume");
            return Err(UserError::new("no checkpoint to resume from", place, mend).into());
        };
        files::require_folder(&self.output)?;
        let mut start = Checkpoint::load(&folder)?;
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
        Ok(start)
    }

    /// The architecture that the flags name, if they do, and the settings that suit it.
    fn architecture(&self) -> Result<(Option<Config>, Settings)> {
        if let Some(path) = &self.config {
            return Ok((Some(read_config(path)?), Settings::suiting(None)));
        }
        let Some(name) = self.preset.as_deref() else {
            return Ok((None, Settings::suiting(Some(DEFAULT_PRESET))));
        };
        Ok((Some(preset(name)?), Settings::suiting(Some(name))))
    }
}

/// The network before the first step.
fn initial(config: Config, seed: u64) -> Model {
    let parameters = initialise(&config, seed);
    Model { config, parameters }
}

fn preset(name: &str) -> Result<Config> {
    let Some(preset) = net::preset(name) else {
        let names: Vec<&str> = net::PRESETS.iter().map(|preset| preset.name).collect();
        let mend = format!("use one of {}", names.join(", "));
        return Err(UserError::new("no such preset", format!("--preset {name}"), mend).into());
    };
    Ok((preset.config)())
}

fn read_config(path: &Path) -> Result<Config> {
    let text = fs::read_to_string(path).map_err(|error| UserError::cannot_read(path, &error))?;
    let mend = "write a JSON object with the fields of a checkpoint's configuration";
    Ok(config_from_json(&text).map_err(|what| UserError::new(what, path.display(), mend))?)
}

/// Threads that prepare batches: one for every eight processors.
fn loaders() -> usize {
    thread::available_parallelism().map_or(1, |n| n.get().div_ceil(8))
}

/// A flag that Ctrl-C or a request to end sets.
fn stop_on_interrupt() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).context("catching Ctrl-C")?;
    Ok(stop)
}
