//! Measuring a run on the held-out examples, and which checkpoint did best there.
use anyhow::Result;
use serde_json::json;

use super::{metrics::Metrics, run::Run};
use crate::{
    checkpoint::Best,
    evaluation::{self, Report},
};

/// Held-out positions of a validation during the run.
pub(super) const POSITIONS: usize = 2048;
/// Those of them whose material changes.
const MATERIAL: usize = 256;

impl Run {
    /// Evaluates the held-out examples, if there are any: the report is that of the averaged
    /// weights where the run keeps them. Remembers whether this is the best so far.
    pub(super) fn validate(
        &mut self,
        numbers: &[u32],
        metrics: &mut Metrics,
    ) -> Result<Option<Report>> {
        if numbers.is_empty() {
            return Ok(None);
        }
        let step = self.state.step;
        let mut report = self.evaluate(numbers)?;
        let mut line = json!({"step": step, "validation": &report});
        tell(step, "", &report);
        if self.state.settings.ema.is_some() {
            report = self.with_average(|run| run.evaluate(numbers))?;
            line["validation_ema"] = serde_json::to_value(&report)?;
            tell(step, "averaged weights: ", &report);
        }
        metrics.write(&line)?;
        let now = Best { step, cross_entropy: report.answers.cross_entropy };
        if self.state.best.is_none_or(|best| now.cross_entropy < best.cross_entropy) {
            self.state.best = Some(now);
        }
        Ok(Some(report))
    }

    fn evaluate(&mut self, numbers: &[u32]) -> Result<Report> {
        let (examples, perspective) = (&*self.examples, self.state.config.perspective);
        evaluation::evaluate(&mut self.backend, perspective, examples, numbers, MATERIAL, |_| {})
    }

    /// Does `work` with the averaged weights in the place of the weights.
    fn with_average<T>(&mut self, work: impl FnOnce(&mut Run) -> Result<T>) -> Result<T> {
        let parameters = self.backend.parameters()?;
        let optimizer = self.backend.optimizer_state()?;
        let average = self.backend.averaged()?;
        self.backend.restore(&average, &optimizer)?;
        let outcome = work(self);
        self.backend.restore(&parameters, &optimizer)?;
        outcome
    }
}

fn tell(step: u64, which: &str, report: &Report) {
    let answers = &report.answers;
    tracing::info!(
        "step {step}: {which}held-out cross-entropy {:.4}, top-1 {:.1} %, top-5 {:.1} %, \
         value correlation {:.3}, material order {:.1} %",
        answers.cross_entropy,
        100.0 * answers.top1,
        100.0 * answers.top5,
        answers.value.correlation,
        100.0 * report.material.pass_rate,
    );
}
