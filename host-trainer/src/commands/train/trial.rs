//! Trials before a run: one batch by heart, and the learning-rate range test.
use std::{
    io::{self, Write as _},
    sync::Arc,
};

use anyhow::Result;
use kibitzer_gpu::OptimizerState;

use super::launch::Launch;
use crate::{
    error::UserError,
    examples::Examples,
    train::{
        Loader, Metrics, OVERFIT, Plan, RANGE, Range, Settings, overfit, range_test,
        stop_on_interrupt,
    },
};

/// Steps of a trial where nothing else is said.
const OVERFIT_STEPS: u64 = 2000;
const RANGE_STEPS: u64 = 200;

impl Launch {
    /// Runs the trial that the flags ask for, in a folder that holds no run.
    pub(super) fn trial(&self, examples: &Arc<dyn Examples>) -> Result<()> {
        let (settings, model) = self.first_model()?;
        let default = if self.overfit { OVERFIT_STEPS } else { RANGE_STEPS };
        let settings = Settings { steps: self.wanted.steps.unwrap_or(default), ..settings };
        let _hold = self.new_folder()?;
        let stop = stop_on_interrupt()?;
        let optimizer = OptimizerState::new(model.parameters.len());
        let device = self.device.unwrap_or_default();
        let opened = device.trainer(
            &model,
            &optimizer,
            settings.batch,
            self.precision.unwrap_or_default(),
            false,
        )?;
        let mut backend = opened.backend;
        let (mut plan, _) = Plan::new(&**examples, &settings, model.config.perspective)?;
        if self.overfit {
            let mut metrics = Metrics::named(&self.output, OVERFIT, 0)?;
            let batch = plan.batch_of(&**examples, 0)?;
            let verdict = overfit(backend.as_mut(), &batch, &settings, &mut metrics, &stop)?;
            if !verdict.learned() {
                let what = format!("one batch could not be learned by heart: {verdict}");
                let mend = "give more --steps, another --lr or a larger network; if that does \
                            not help, distrust the targets";
                return Err(UserError::new(what, examples.place(), mend).into());
            }
            return Ok(writeln!(io::stdout(), "learned by heart: {verdict}")?);
        }
        let mut metrics = Metrics::named(&self.output, RANGE, 0)?;
        let loaders = self.loaders(opened.device);
        let mut loader = Loader::start(examples, &plan, &(0..settings.steps), loaders)?;
        let range = range_test(backend.as_mut(), &mut loader, &settings, &mut metrics, &stop)?;
        print(&range)
    }
}

fn print(range: &Range) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "steps          {}", range.steps)?;
    writeln!(out, "lowest loss    {:.4} at rate {:.1e}", range.lowest, range.lowest_at)?;
    match range.diverged_at {
        Some(rate) => writeln!(out, "diverged       at rate {rate:.1e}")?,
        None => writeln!(out, "diverged       not up to the highest rate")?,
    }
    Ok(writeln!(out, "suggested      --lr {:.1e}", range.suggested)?)
}
