//! A model file as a network that answers batches.
use std::{fs, path::Path};

use anyhow::Result;
use kibitzer_core::{
    inputs::{AUX, AUX_DENOMINATOR, Inputs, SQUARES},
    moves::MoveIndex,
    net::{Config, Evaluation, Model, ModelError, Precision, ample_scratch_bytes, kbz::MAGIC},
};
use kibitzer_gpu::{Batch, Outputs};
use rayon::prelude::*;

use crate::{error::UserError, network::Evaluate};

/// A quantized network.
#[derive(Debug, Clone)]
pub struct Integer {
    sections: Vec<u8>,
    config: Config,
    precision: Precision,
    /// Of the last single position.
    scratch: Vec<u8>,
}

impl Integer {
    /// A network from the bytes of a model file.
    ///
    /// # Errors
    /// If the bytes are not a whole model file.
    pub fn new(bytes: Vec<u8>) -> Result<Integer, ModelError> {
        let model = Model::parse(&bytes)?;
        Ok(Integer {
            sections: model.sections().unwrap_or_default().to_vec(),
            config: model.config().clone(),
            precision: model.precision(),
            scratch: vec![],
        })
    }

    /// Reads `path` if it is a model file, whole or not; `None` if it is something else.
    ///
    /// # Errors
    /// [`UserError`] if the file cannot be read, or is a model file and not whole.
    pub fn open(path: &Path) -> Result<Option<Integer>, UserError> {
        let named = path.extension().is_some_and(|extension| extension == "kbz");
        if path.is_dir() {
            return Ok(None);
        }
        let bytes = fs::read(path).map_err(|error| UserError::cannot_read(path, &error))?;
        if !named && !bytes.starts_with(&MAGIC) {
            return Ok(None);
        }
        let mend = "make it again with kibitzer quantize";
        Integer::new(bytes).map(Some).map_err(|error| UserError::new(error, path.display(), mend))
    }

    /// The network itself.
    ///
    /// # Errors
    /// None: the bytes were read when it was made.
    pub fn network(&self) -> Result<Model<'_>, ModelError> {
        Model::of_sections(self.config.clone(), self.precision, &self.sections)
    }

    /// The network's configuration.
    pub const fn config(&self) -> &Config {
        &self.config
    }
}

impl Evaluate for Integer {
    fn evaluate(&mut self, batch: &Batch) -> Result<Outputs> {
        batch.validate()?;
        let answers: Vec<(Vec<f32>, f32)> = match batch.positions() {
            // Not worth another thread's attention.
            1 => {
                let mut scratch = std::mem::take(&mut self.scratch);
                let model = self.network()?;
                scratch.resize(ample_scratch_bytes(&self.config), 0);
                let answer = score(&model, batch, 0, &mut scratch);
                self.scratch = scratch;
                vec![answer?]
            }
            several => {
                // A network may lie in a place that threads cannot share: each has its own.
                let network = || {
                    self.network().map(|model| {
                        let scratch = vec![0; ample_scratch_bytes(&self.config)];
                        (model, scratch)
                    })
                };
                let answer = |network: &mut Result<(Model<'_>, Vec<u8>), ModelError>, position| {
                    let (model, scratch) = network.as_mut().map_err(|error| *error)?;
                    score(model, batch, position, scratch)
                };
                (0..several)
                    .into_par_iter()
                    .map_init(network, answer)
                    .collect::<Result<_, ModelError>>()?
            }
        };
        let mut outputs = Outputs::default();
        for (logits, value) in answers {
            outputs.logits.extend(logits);
            outputs.values.push(value);
        }
        Ok(outputs)
    }
}

/// The logits and the value of one position of a valid batch.
fn score(
    model: &Model<'_>,
    batch: &Batch,
    position: usize,
    scratch: &mut [u8],
) -> Result<(Vec<f32>, f32), ModelError> {
    let indices = batch.legal[batch.entries(position)].iter();
    let moves: Vec<MoveIndex> =
        indices.filter_map(|&index| MoveIndex::from_usize(index.into())).collect();
    let mut logits = vec![0; moves.len()];
    let value = model.score(&inputs(batch, position), &moves, &mut logits, scratch)?;
    let unit = 1.0 / Evaluation::LOGIT_ONE as f32;
    let logits = logits.into_iter().map(|logit| logit as f32 * unit).collect();
    Ok((logits, f32::from(value) / Evaluation::VALUE_ONE as f32))
}

/// A position's inputs; the batch's scalars are fractions of small integers.
pub(super) fn inputs(batch: &Batch, position: usize) -> Inputs {
    let scalars = &batch.aux[position * AUX..][..AUX];
    Inputs {
        tokens: std::array::from_fn(|square| batch.tokens[position * SQUARES + square]),
        aux: std::array::from_fn(|i| (scalars[i] * f32::from(AUX_DENOMINATOR[i])).round() as i8),
    }
}
