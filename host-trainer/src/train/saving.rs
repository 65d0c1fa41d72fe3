//! Checkpoints of a run, and errors that end it with its last one.
use anyhow::Result;
use kibitzer_gpu::Error as BackendError;

use super::{nonfinite, run::Run};
use crate::{
    checkpoint::{self, Checkpoint},
    error::{OUT_OF_MEMORY, UserError},
    model::Model,
};

impl Run {
    /// Saves a checkpoint.
    pub(super) fn save(&mut self) -> Result<()> {
        let config = self.state.config.clone();
        let model = Model { config, parameters: self.backend.parameters()? };
        let optimizer = self.backend.optimizer_state()?;
        let average = self.state.settings.ema.map(|_| self.backend.averaged()).transpose()?;
        let checkpoint = Checkpoint { model, optimizer, average, state: self.state.clone() };
        checkpoint.save(&self.folder, self.keep).map(drop)
    }

    /// What to tell the user of a failed step.
    pub(super) fn fault(&mut self, error: BackendError) -> anyhow::Error {
        // The oldest step not told is the one that failed: those after it were not taken.
        let step = (self.state.step + 1).saturating_sub(self.untold.len() as u64);
        match error {
            BackendError::Diverged { .. } => {
                let place = self.first_nonfinite();
                let what = format!("{error} in step {step}; the first tensor not finite: {place}");
                self.ended(what, "start again with a lower --lr").into()
            }
            BackendError::Device(what) => {
                let mend = "go on with --resume, or with --resume --device cpu";
                self.ended(format!("the device failed in step {step} ({what})"), mend).into()
            }
            BackendError::OutOfMemory => {
                self.ended(format!("out of memory in step {step}"), OUT_OF_MEMORY).into()
            }
            other => self.ended(format!("{other} in step {step}"), "start again").into(),
        }
    }

    fn first_nonfinite(&mut self) -> String {
        let Some(batch) = self.untold.front() else { return "unknown".into() };
        let (config, weight) = (&self.state.config, self.state.settings.value_weight);
        let parameters = self.backend.parameters().map_err(anyhow::Error::from);
        let found = parameters.and_then(|all| nonfinite::first(config, &all, batch, weight));
        found.unwrap_or_else(|error| format!("unknown ({error})"))
    }

    /// An error that leaves the last checkpoint, if there is one.
    fn ended(&self, what: String, mend: &str) -> UserError {
        let last = checkpoint::newest(&self.folder).ok().flatten();
        match last {
            Some(last) => UserError::new(what, last.display(), format_args!("it is kept; {mend}")),
            None => UserError::new(what, self.folder.display(), mend),
        }
    }
}
