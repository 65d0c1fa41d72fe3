//! The run: steps, metrics, validation and checkpoints.
use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Result;
use indicatif::HumanDuration;
use kibitzer_gpu::{Backend, Batch, Error as BackendError, Losses};
use serde_json::json;

use super::{
    diagnostics::{Before, Diagnosis, Diagnostics},
    loader::{Loader, Plan},
    metrics::{Means, Metrics},
};
use crate::{
    checkpoint::{Checkpoint, State},
    error::UserError,
    evaluation::{self, Report},
    examples::{Examples, Held},
    model::Model,
    progress,
    records::Order,
};

/// Lines of losses that a run's metrics have at most.
const LINES: u64 = 1000;
/// A checkpoint is at most so old.
const OLDEST: Duration = Duration::from_secs(300);
/// Held-out positions of a validation during the run, and those of them whose material changes.
const VALIDATION: (usize, usize) = (2048, 256);

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// All steps are done; the last validation, if any game was held out.
    Finished(Option<Box<Report>>),
    /// Stopped before the end; the checkpoint is saved.
    Stopped,
}

/// A training run on its way.
pub struct Run {
    /// The folder of its checkpoints and metrics.
    pub folder: PathBuf,
    /// What it learns from.
    pub examples: Arc<dyn Examples>,
    /// The network with its optimizer, at `state`.
    pub backend: Box<dyn Backend>,
    /// Where it stands.
    pub state: State,
    /// Steps between validations, each with a checkpoint.
    pub save_every: u64,
    /// Steps between diagnoses; 0 for none.
    pub diagnose_every: u64,
    /// Threads that prepare batches.
    pub loaders: usize,
    /// Set from outside to stop after the current step.
    pub stop: Arc<AtomicBool>,
}

impl Run {
    /// Trains to the last step, or until `stop` is set; the newest checkpoint is then complete.
    ///
    /// # Errors
    /// [`UserError`] if an example is damaged, none is left to train on, the loss diverges or
    /// the folder cannot be written; the device's.
    pub fn train(mut self) -> Result<Outcome> {
        let settings = self.state.settings.clone();
        let held = Held::new(&*self.examples, settings.held_out);
        let validation: Vec<u32> = evaluation::evenly(&held.out, VALIDATION.0).collect();
        let plan = self.plan(held.training)?;
        let steps = self.state.step..settings.steps;
        let mut loader = Loader::start(&self.examples, &plan, &steps, self.loaders)?;
        let mut metrics = Metrics::open(&self.folder, self.state.step)?;
        let mut pace = Pace::start(&self.state);
        let diagnostics = Diagnostics::new(&self.state.config);
        let mut diagnosis = None;
        let mut report = None;
        let line_every = settings.steps.div_ceil(LINES);
        while let Some(batch) = loader.next_batch()? {
            let hyper = settings.optimizer(self.state.step);
            let before = self.before_step(&diagnostics, &batch)?;
            let losses = self.backend.step(&batch, &hyper, settings.value_weight);
            let losses = losses.map_err(|error| self.diverged(error))?;
            self.advance(&losses);
            if let Some(before) = before {
                let found = diagnostics.after(self.backend.as_mut(), before)?;
                metrics.write(&json!({"step": self.state.step, "diagnosis": &found}))?;
                diagnosis = Some(found);
            }
            let last = self.state.step == settings.steps;
            if self.state.step.is_multiple_of(line_every) || last {
                let means = self.state.window.take();
                let speed = pace.lap(self.state.step, settings.batch, loader.take_waited());
                self.write_losses(&mut metrics, &means, hyper.learning_rate, &speed)?;
                pace.show(&means, &speed);
            }
            let stopping = self.stop.load(Ordering::Relaxed) && !last;
            if self.state.step.is_multiple_of(self.save_every) || last {
                report = self.validate(&validation, &mut metrics)?;
                self.show(diagnosis.take());
                self.save(&mut pace)?;
            } else if stopping || pace.saved.elapsed() > OLDEST {
                self.save(&mut pace)?;
            }
            if stopping {
                return Ok(Outcome::Stopped);
            }
        }
        if self.state.step < settings.steps {
            anyhow::bail!("the loader stopped at step {}", self.state.step);
        }
        Ok(Outcome::Finished(report.map(Box::new)))
    }

    fn plan(&self, training: Vec<u32>) -> Result<Plan> {
        if training.is_empty() {
            let mend = "give more games or openings, or hold out fewer";
            let place = self.examples.place();
            return Err(UserError::new("no position is left to train on", place, mend).into());
        }
        let settings = &self.state.settings;
        let order = Order::new(training, settings.seed);
        let perspective = self.state.config.perspective;
        Ok(Plan { batch: settings.batch, order, perspective })
    }

    /// What has to be measured before the next step, if it is one of those diagnosed.
    fn before_step(&mut self, diagnostics: &Diagnostics, batch: &Batch) -> Result<Option<Before>> {
        let next = self.state.step + 1;
        if self.diagnose_every == 0 || !next.is_multiple_of(self.diagnose_every) {
            return Ok(None);
        }
        let weight = self.state.settings.value_weight;
        Ok(Some(diagnostics.before(self.backend.as_mut(), batch, weight)?))
    }

    fn show(&self, diagnosis: Option<Diagnosis>) {
        if let Some(diagnosis) = diagnosis {
            tracing::info!("step {}: training {diagnosis}", self.state.step);
        }
    }

    fn advance(&mut self, losses: &Losses) {
        self.state.step += 1;
        self.state.cursor += self.state.settings.batch as u64;
        self.state.window.add(losses);
    }

    fn write_losses(
        &self,
        metrics: &mut Metrics,
        means: &Means,
        learning_rate: f32,
        speed: &Speed,
    ) -> Result<()> {
        metrics.write(&json!({
            "step": self.state.step,
            "positions": self.state.cursor,
            "loss": means.loss,
            "policy": means.policy,
            "value": means.value,
            "gradient_norm": means.gradient_norm,
            "learning_rate": learning_rate,
            "positions_per_second": speed.positions_per_second,
            "waiting": speed.waiting,
            "seconds_left": self.positions_left() / speed.positions_per_second,
        }))
    }

    fn positions_left(&self) -> f64 {
        let settings = &self.state.settings;
        (settings.steps - self.state.step) as f64 * settings.batch as f64
    }

    /// Evaluates the held-out positions, if there are any.
    fn validate(&mut self, numbers: &[u32], metrics: &mut Metrics) -> Result<Option<Report>> {
        if numbers.is_empty() {
            return Ok(None);
        }
        let (backend, perspective) = (&mut self.backend, self.state.config.perspective);
        let report = evaluation::evaluate(
            backend,
            perspective,
            &*self.examples,
            numbers,
            VALIDATION.1,
            |_| {},
        )?;
        metrics.write(&json!({"step": self.state.step, "validation": &report}))?;
        let answers = &report.answers;
        tracing::info!(
            "step {}: held-out cross-entropy {:.4}, top-1 {:.1} %, top-5 {:.1} %, \
             value correlation {:.3}, material order {:.1} %",
            self.state.step,
            answers.cross_entropy,
            100.0 * answers.top1,
            100.0 * answers.top5,
            answers.value.correlation,
            100.0 * report.material.pass_rate,
        );
        Ok(Some(report))
    }

    fn save(&mut self, pace: &mut Pace) -> Result<()> {
        let config = self.state.config.clone();
        let model = Model { config, parameters: self.backend.parameters()? };
        let optimizer = self.backend.optimizer_state()?;
        Checkpoint { model, optimizer, state: self.state.clone() }.save(&self.folder)?;
        pace.saved = Instant::now();
        Ok(())
    }

    fn diverged(&self, error: BackendError) -> anyhow::Error {
        match error {
            BackendError::Diverged { .. } => {
                let place = format!("step {} of {}", self.state.step, self.folder.display());
                UserError::new(error, place, "start again with a lower --lr").into()
            }
            other => other.into(),
        }
    }
}

/// Speed over the steps since the last line.
struct Speed {
    positions_per_second: f64,
    /// Share of the time in which the device waited for data.
    waiting: f64,
}

/// Where no bar is shown, a line is written so often.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// The clock and the bar.
struct Pace {
    lap: Instant,
    lap_step: u64,
    saved: Instant,
    told: Instant,
    bar: indicatif::ProgressBar,
}

impl Pace {
    fn start(state: &State) -> Pace {
        let bar = progress::bar(state.settings.steps, "steps");
        bar.set_position(state.step);
        bar.reset_eta();
        let now = Instant::now();
        Pace { lap: now, lap_step: state.step, saved: now, told: now, bar }
    }

    fn lap(&mut self, step: u64, batch: usize, waited: Duration) -> Speed {
        let seconds = self.lap.elapsed().as_secs_f64().max(f64::MIN_POSITIVE);
        let positions = (step - self.lap_step) as f64 * batch as f64;
        self.bar.set_position(step);
        (self.lap, self.lap_step) = (Instant::now(), step);
        Speed { positions_per_second: positions / seconds, waiting: waited.as_secs_f64() / seconds }
    }

    /// Shows losses, speed, waiting and time left.
    fn show(&mut self, means: &Means, speed: &Speed) {
        let text = format!(
            "loss {:.4} (policy {:.4}, value {:.4}), {:.0} positions/s, {:.1} % waiting for data",
            means.loss,
            means.policy,
            means.value,
            speed.positions_per_second,
            100.0 * speed.waiting,
        );
        if self.bar.is_hidden() && self.told.elapsed() > LINE_EVERY {
            let (step, left) = (self.bar.position(), HumanDuration(self.bar.eta()));
            tracing::info!("step {step}: {text}, {left} left");
            self.told = Instant::now();
        }
        self.bar.set_message(text);
    }
}
