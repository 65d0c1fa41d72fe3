//! Observing the float network on the processor.
use anyhow::Result;
use kibitzer_gpu::{Backend as _, Batch, OptimizerState, cpu::Cpu};

use super::Statistics;
use crate::{error::UserError, model::Model};

/// Positions at a time; every intermediate result of them is in memory at once.
pub const CHUNK: usize = 16;

/// What `model` does on `batches`, none larger than [`CHUNK`].
///
/// # Errors
/// [`UserError`] if an activation is not finite; others if a batch is malformed.
pub fn calibrate(
    model: &Model,
    batches: &[Batch],
    mut progress: impl FnMut(usize),
) -> Result<Statistics> {
    let mut cpu = Cpu::by_operation(&model.config, 0, CHUNK)?;
    cpu.restore(&model.parameters, &OptimizerState::new(model.parameters.len()))?;
    let signals: Vec<_> = cpu.program().buffers.iter().map(|b| (b.layer, b.signal)).collect();
    let mut statistics = Statistics::default();
    for batch in batches {
        cpu.evaluate(batch)?;
        for &(layer, signal) in &signals {
            if let Some(activation) = cpu.activation(layer, signal) {
                statistics.observe(layer, signal, activation.width(), activation.rows());
            }
        }
        progress(batch.positions());
    }
    if statistics.is_finite() {
        return Ok(statistics);
    }
    let what = "the network's activations are not finite";
    Err(UserError::new(what, "the model", "train it again with a smaller learning rate").into())
}
