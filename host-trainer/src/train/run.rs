//! The run: its steps, and what happens between them.
use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Result;
use kibitzer_gpu::{Backend, Batch, Error as BackendError};
use serde_json::json;

use super::{
    diagnostics::{Before, Diagnosis, Diagnostics},
    loader::{Loader, Plan},
    metrics::{Means, Metrics},
    pace::{Pace, Speed},
};
use crate::{checkpoint::State, evaluation::Report, examples::Examples};

/// Steps that a device may have under way: it never waits for the host.
const LATE: usize = 4;
/// Lines of losses that a run's metrics have at most.
const LINES: u64 = 1000;
/// A checkpoint is at most so old.
const OLDEST: Duration = Duration::from_secs(300);

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
    /// Newest checkpoints that are kept, at least 1; the best one is kept besides.
    pub keep: usize,
    /// Threads that prepare batches.
    pub loaders: usize,
    /// Set from outside to stop after the current step.
    pub stop: Arc<AtomicBool>,
    /// Batches of the steps whose losses the backend has not told yet.
    pub untold: VecDeque<Batch>,
}

impl Run {
    /// Trains to the last step, or until `stop` is set; the newest checkpoint is then complete.
    ///
    /// # Errors
    /// [`crate::error::UserError`] if an example is damaged, none is left to train on, the loss
    /// diverges, the device fails or the folder cannot be written; the last checkpoint stays.
    pub fn train(mut self) -> Result<Outcome> {
        self.steps().map_err(|error| match error.downcast::<BackendError>() {
            Ok(error) => self.fault(error),
            Err(error) => error,
        })
    }

    fn steps(&mut self) -> Result<Outcome> {
        let settings = self.state.settings.clone();
        let (plan, held_out) =
            Plan::new(&*self.examples, &settings, self.state.config.perspective)?;
        let validation = held_out.evenly(super::validation::POSITIONS);
        let steps = self.state.step..settings.steps;
        let mut loader = Loader::start(&self.examples, &plan, &steps, self.loaders)?;
        let mut metrics = Metrics::open(&self.folder, self.state.step)?;
        if self.state.step == 0 {
            self.tell_bands(&plan, &mut metrics)?;
        }
        let mut pace = Pace::start(&self.state);
        let mut saved = Instant::now();
        let diagnostics = Diagnostics::new(&self.state.config);
        let mut diagnosis = None;
        let mut report = None;
        let line_every = settings.steps.div_ceil(LINES);
        while let Some(batch) = loader.next_batch()? {
            let before = pace.pausing(|| self.before_step(&diagnostics, &batch))?;
            self.submit(batch)?;
            if let Some(before) = before {
                let found = pace.pausing(|| diagnostics.after(self.backend.as_mut(), before))?;
                metrics.write(&json!({"step": self.state.step, "diagnosis": &found}))?;
                diagnosis = Some(found);
            }
            let last = self.state.step == settings.steps;
            let stopping = self.stop.load(Ordering::Relaxed) && !last;
            let due = self.state.step.is_multiple_of(self.save_every) || last;
            let saving = due || stopping || saved.elapsed() > OLDEST;
            while let Some(step) = self.told(if saving { 0 } else { LATE })? {
                if step.is_multiple_of(line_every) || step == settings.steps {
                    let means = self.state.window.take();
                    let speed = pace.lap(self.state.step, settings.batch, &mut loader);
                    self.write_losses(&mut metrics, step, &means, &speed)?;
                    pace.show(&means, &speed);
                }
            }
            if due {
                report = pace.pausing(|| self.validate(&validation, &mut metrics))?;
                self.show(diagnosis.take());
            }
            if saving {
                pace.pausing(|| self.save())?;
                saved = Instant::now();
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

    /// Records how often each band of positions will be learned, where that was asked for.
    fn tell_bands(&self, plan: &Plan, metrics: &mut Metrics) -> Result<()> {
        let bands = plan.bands(&*self.examples, &self.state.settings)?;
        if bands.is_empty() {
            return Ok(());
        }
        for (name, positions, share) in &bands {
            tracing::info!("{name}: {positions} positions, {:.1} % of the steps'", 100.0 * share);
        }
        let line = |(name, positions, share): &(String, u32, f64)| json!({"band": name, "positions": positions, "share": share});
        metrics.write(&json!({"step": 0, "bands": bands.iter().map(line).collect::<Vec<_>>()}))
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

    /// Starts a step, with the average of the weights where the run keeps one.
    fn submit(&mut self, batch: Batch) -> Result<()> {
        let settings = &self.state.settings;
        let hyper = settings.optimizer(self.state.step);
        let average_weight = settings.average_weight(self.state.step);
        let submitted = self.backend.submit(&batch, &hyper, settings.value_weight);
        self.state.step += 1;
        self.state.cursor += self.state.settings.batch as u64;
        self.untold.push_back(batch);
        submitted?;
        if let Some(weight) = average_weight {
            self.backend.average(weight)?;
        }
        Ok(())
    }

    /// Adds the losses of the oldest step not told yet, once more than `under_way` are in that
    /// state; returns its number.
    fn told(&mut self, under_way: usize) -> Result<Option<u64>> {
        let Some(losses) = self.backend.losses(under_way)? else { return Ok(None) };
        self.untold.pop_front();
        self.state.window.add(&losses);
        Ok(Some(self.state.step - self.untold.len() as u64))
    }

    fn write_losses(
        &self,
        metrics: &mut Metrics,
        step: u64,
        means: &Means,
        speed: &Speed,
    ) -> Result<()> {
        let settings = &self.state.settings;
        let left = (settings.steps - step) as f64 * settings.batch as f64;
        metrics.write(&json!({
            "step": step,
            "positions": step * settings.batch as u64,
            "loss": means.loss,
            "policy": means.policy,
            "value": means.value,
            "gradient_norm": means.gradient_norm,
            "skipped": means.skipped,
            "learning_rate": settings.learning_rate_at(step - 1),
            "positions_per_second": speed.positions_per_second,
            "waiting": speed.waiting,
            "seconds_left": left / speed.positions_per_second,
        }))
    }
}
