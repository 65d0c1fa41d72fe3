//! Labelled positions as training examples.
use std::path::PathBuf;

use kibitzer_core::{
    inputs::Perspective,
    shakmaty::{Chess, Position as _},
};
use kibitzer_gpu::Batch;

use super::{Labels, Target, value};
use crate::{
    bands::Band,
    batches,
    error::UserError,
    examples::{Examples, ExamplesName},
    records::is_held_out,
};

/// Labels with the way their scores become targets. Openings are held out.
#[derive(Debug)]
pub struct Distillation {
    labels: Labels,
    target: Target,
    paths: Vec<PathBuf>,
}

impl Distillation {
    /// The positions of `labels`, which come from `paths`.
    pub fn new(labels: Labels, target: Target, paths: Vec<PathBuf>) -> Distillation {
        Distillation { labels, target, paths }
    }

    /// The positions and scores.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }
}

impl Examples for Distillation {
    fn count(&self) -> u32 {
        u32::try_from(self.labels.len()).expect("labels are counted in u32")
    }

    fn position(&self, number: u32) -> Result<Chess, UserError> {
        self.labels.position(number as usize).map_err(|error| {
            UserError::new(error, self.place(), "label the positions again with kibitzer label")
        })
    }

    fn band(&self, number: u32) -> Result<Band, UserError> {
        let value = value(self.labels.scores(number as usize));
        Ok(Band::of(self.position(number)?.board(), value))
    }

    fn is_held_out(&self, number: u32, share: f64) -> bool {
        is_held_out(self.labels.opening_hash(number as usize), share)
    }

    fn push(
        &self,
        batch: &mut Batch,
        number: u32,
        perspective: Perspective,
    ) -> Result<(), UserError> {
        let position = self.position(number)?;
        let scores = self.labels.scores(number as usize);
        batches::push(batch, &position, perspective);
        batch.target_policy.extend(self.target.policy(scores).map(|q| q as f32));
        batch.target_value.push(value(scores) as f32);
        Ok(())
    }

    fn name(&self) -> ExamplesName {
        ExamplesName::new(self.labels.digest(), self.count(), self.target.to_string())
    }

    fn place(&self) -> String {
        let names = self.paths.iter().map(|path| path.display().to_string());
        names.collect::<Vec<_>>().join(" ")
    }
}
