//! What every way of training has in common: its flags, and how a run is launched.
use std::{collections::VecDeque, num::NonZeroUsize, path::PathBuf, sync::Arc, thread};

use anyhow::Result;

use super::start::Start;
use crate::{
    checkpoint::{self, Hold},
    cli::Interrupted,
    device::{Device, Precision},
    error::UserError,
    evaluation::CHUNK,
    examples::Examples,
    files,
    train::{Outcome, Provenance, Run, Settings, stop_on_interrupt},
};

/// The flags of a run.
#[derive(Debug, clap::Args)]
pub struct Launch {
    /// The run's folder, for checkpoints, metrics.jsonl and run.json.
    #[arg(short, long, value_name = "RUN")]
    pub(super) output: PathBuf,
    /// A named architecture [default: demo].
    #[arg(long, conflicts_with = "config")]
    pub(super) preset: Option<String>,
    /// An architecture in JSON, with the fields of a checkpoint's configuration.
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Go on from the newest checkpoint in RUN.
    #[arg(long)]
    pub(super) resume: bool,
    /// Start with the weights of this model.safetensors, checkpoint or run's folder: with its
    /// architecture, or in the larger one of --preset or --config, which then answers the same.
    #[arg(long, value_name = "MODEL", conflicts_with = "resume")]
    pub(super) from: Option<PathBuf>,
    /// Where to compute [default: where the run did, or a real GPU if there is one, else the
    /// processor].
    #[arg(long, value_enum)]
    pub(super) device: Option<Device>,
    /// How activations and their gradients are stored: f16 takes half the memory, on a GPU that
    /// has it [default: f32].
    #[arg(long, value_enum)]
    pub(super) precision: Option<Precision>,
    /// Steps between validations, each with a checkpoint [default: a twentieth of the run, at least 100].
    #[arg(long, value_name = "STEPS")]
    save_every: Option<u64>,
    /// Steps between diagnoses of a step (gradient noise, update ratios, calibration), 0 for
    /// none; they change no result [default: a two-hundredth of the run, at least 50].
    #[arg(long, value_name = "STEPS")]
    diagnose_every: Option<u64>,
    /// Newest checkpoints to keep; the best on the held-out examples is kept besides.
    #[arg(long, value_name = "N", default_value = "3")]
    keep: NonZeroUsize,
    /// Threads that prepare batches [default: one for every eight processors, or for every two
    /// beside a GPU].
    #[arg(long, value_name = "N")]
    loaders: Option<NonZeroUsize>,
    /// Only find out whether the network can learn one batch by heart; saves nothing.
    #[arg(long, conflicts_with = "resume")]
    pub(super) overfit: bool,
    /// Only find a learning rate: raise it from step to step until the loss diverges; saves
    /// nothing.
    #[arg(long, conflicts_with_all = ["resume", "overfit", "lr"])]
    pub(super) lr_range: bool,
    /// Only print what the run would keep in memory on its device; the examples are not read.
    #[arg(long, conflicts_with_all = ["resume", "overfit", "lr_range"])]
    pub(super) memory: bool,
    #[command(flatten)]
    pub(super) wanted: Wanted,
}

/// What the flags say of the settings; the preset, or the run resumed, says the rest.
#[derive(Debug, clap::Args)]
pub struct Wanted {
    /// Steps of the optimizer.
    #[arg(long)]
    pub(super) steps: Option<u64>,
    /// Positions a step.
    #[arg(long)]
    batch: Option<usize>,
    /// Peak of the learning rate.
    #[arg(long)]
    lr: Option<f32>,
    /// Steps in which the learning rate rises to its peak; it falls along a cosine afterwards.
    #[arg(long, value_name = "STEPS")]
    warmup: Option<u64>,
    /// Share of the weights lost in a step, times the learning rate [default: 0.01].
    #[arg(long, value_name = "SHARE")]
    weight_decay: Option<f32>,
    /// Longest gradient; longer ones are scaled down to it [default: 1].
    #[arg(long, value_name = "NORM")]
    clip: Option<f32>,
    /// Also keep an exponential moving average of the weights, with this decay, as in 0.999.
    #[arg(long, value_name = "DECAY")]
    ema: Option<f32>,
    /// Weight of the value's squared error [default: 0.25].
    #[arg(long)]
    value_weight: Option<f32>,
    /// Decides the first parameters and the order of the positions.
    #[arg(long)]
    seed: Option<u64>,
    /// Share of the games or openings held out for validation [default: that of the records,
    /// or 0.05].
    #[arg(long, value_name = "SHARE")]
    pub(super) held_out: Option<f64>,
    /// Learn rare kinds of positions more often, by phase and by how the game stands: 0 as often
    /// as there are any, 1 all kinds alike [default: 0].
    #[arg(long, value_name = "POWER")]
    balance: Option<f64>,
}

impl Wanted {
    /// These settings, and those of `base` where nothing is said.
    pub(super) fn over(&self, base: &Settings) -> Settings {
        Settings {
            steps: self.steps.unwrap_or(base.steps),
            batch: self.batch.unwrap_or(base.batch),
            learning_rate: self.lr.unwrap_or(base.learning_rate),
            warmup: self.warmup.unwrap_or(base.warmup),
            weight_decay: self.weight_decay.unwrap_or(base.weight_decay),
            clip: self.clip.unwrap_or(base.clip),
            ema: self.ema.or(base.ema),
            value_weight: self.value_weight.unwrap_or(base.value_weight),
            seed: self.seed.unwrap_or(base.seed),
            held_out: self.held_out.unwrap_or(base.held_out),
            balance: self.balance.unwrap_or(base.balance),
        }
    }
}

/// Positions that the device is asked to take at once: a batch, and what validation evaluates.
pub(super) fn at_once(settings: &Settings) -> usize {
    settings.batch.max(CHUNK)
}

impl Launch {
    /// Trains on `examples` to the end or until Ctrl-C.
    ///
    /// # Errors
    /// [`UserError`] for a wrong file, flag or configuration; [`Interrupted`] after Ctrl-C.
    pub fn run(self, examples: Arc<dyn Examples>) -> Result<()> {
        if self.overfit || self.lr_range {
            return self.trial(&examples);
        }
        let Start { checkpoint: mut start, from, _hold } = self.start(&*examples)?;
        let stop = stop_on_interrupt()?;
        let settings = &start.state.settings;
        tracing::info!(
            "{} parameters, {} steps of {} positions, from step {}",
            start.model.parameters.len(),
            settings.steps,
            settings.batch,
            start.state.step
        );
        let opened = start.state.device.trainer(
            &start.model,
            &start.optimizer,
            at_once(settings),
            start.state.precision,
            settings.ema.is_some(),
        )?;
        let mut backend = opened.backend;
        if let Some(average) = &start.average {
            backend.restore_average(average)?;
        }
        start.state.device = opened.device;
        let place = examples.place();
        Provenance { state: &start.state, place, adapter: opened.adapter, from }
            .record(&self.output)?;
        let run = Run {
            backend,
            save_every: self.save_every.unwrap_or((settings.steps / 20).max(100)).max(1),
            diagnose_every: self.diagnose_every.unwrap_or((settings.steps / 200).max(50)),
            keep: self.keep.get(),
            state: start.state,
            loaders: self.loaders(opened.device),
            folder: self.output,
            examples,
            stop,
            untold: VecDeque::new(),
        };
        match run.train()? {
            Outcome::Finished(_) => Ok(()),
            Outcome::Stopped => {
                tracing::warn!("stopped; go on with --resume");
                Err(Interrupted.into())
            }
        }
    }

    /// Finds out what can be found out before the examples are read, and makes nothing.
    ///
    /// # Errors
    /// [`UserError`] for a wrong flag, architecture or folder.
    pub fn check(&self) -> Result<()> {
        self.wanted.over(&self.architecture()?.1).validate()?;
        if self.resume {
            return Ok(());
        }
        files::require_room_for_folder(&self.output)?;
        self.require_no_run()
    }

    /// A new run's folder must hold none yet.
    fn require_no_run(&self) -> Result<()> {
        if !self.output.is_dir() || checkpoint::newest(&self.output)?.is_none() {
            return Ok(());
        }
        let mend = "go on with --resume or choose another folder";
        Err(UserError::new("there is a run already", self.output.display(), mend).into())
    }

    /// Makes and takes the folder of a new run.
    pub(super) fn new_folder(&self) -> Result<Hold> {
        self.require_no_run()?;
        Hold::make(&self.output)
    }

    /// Threads that prepare batches for a network on `device`.
    pub(super) fn loaders(&self, device: Device) -> usize {
        let each = if device == Device::Gpu { 2 } else { 8 };
        let processors = || thread::available_parallelism().map_or(1, |n| n.get().div_ceil(each));
        self.loaders.map_or_else(processors, NonZeroUsize::get)
    }
}
