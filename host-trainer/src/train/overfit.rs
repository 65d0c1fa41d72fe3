//! Learning one batch by heart: a network, a gradient or a target that is broken cannot.
use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering},
};

use anyhow::Result;
use kibitzer_gpu::{AdamW, Backend, Batch};
use serde_json::json;

use super::{Settings, floor::Floor, metrics::Metrics};
use crate::{cli::Interrupted, progress};

/// What counts as learned: the losses lie at most so far above the least possible.
const POLICY: f64 = 0.02;
const VALUE: f64 = 0.01;
/// Steps in which the learning rate rises; afterwards it stays.
const WARMUP: u64 = 20;

/// How far one batch was learned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Steps taken.
    pub steps: u64,
    /// The least possible losses.
    pub floor: Floor,
    /// Cross-entropy of the policy above the least possible, nats.
    pub policy: f64,
    /// Squared error of the value above the least possible.
    pub value: f64,
}

impl Verdict {
    /// Whether the batch is known by heart.
    pub fn learned(&self) -> bool {
        self.policy <= POLICY && self.value <= VALUE
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "after {} steps the policy is {:.4} nats and the value's squared error {:.4} above \
             the least possible ({:.4} and {:.4}); wanted: {POLICY} and {VALUE}",
            self.steps, self.policy, self.value, self.floor.policy, self.floor.value
        )
    }
}

/// Trains on `batch` alone until it is known by heart, or for all steps of the settings, without
/// weight decay.
///
/// # Errors
/// [`Interrupted`] once `stop` is set; the device's.
pub fn overfit(
    backend: &mut dyn Backend,
    batch: &Batch,
    settings: &Settings,
    metrics: &mut Metrics,
    stop: &AtomicBool,
) -> Result<Verdict> {
    let floor = Floor::of(batch);
    let bar = progress::bar(settings.steps, "steps");
    let mut verdict = Verdict { steps: 0, floor, policy: f64::INFINITY, value: f64::INFINITY };
    while verdict.steps < settings.steps && !verdict.learned() {
        if stop.load(Ordering::Relaxed) {
            return Err(Interrupted.into());
        }
        let rise = ((verdict.steps + 1) as f32 / WARMUP as f32).min(1.0);
        let hyper = AdamW {
            learning_rate: settings.learning_rate * rise,
            weight_decay: 0.0,
            ..settings.optimizer(0)
        };
        let losses = backend.step(batch, &hyper, settings.value_weight)?;
        verdict.steps += 1;
        (verdict.policy, verdict.value) = floor.excess(&losses);
        metrics.write(&json!({
            "step": verdict.steps, "policy": losses.policy, "value": losses.value,
            "gradient_norm": losses.gradient_norm, "learning_rate": hyper.learning_rate,
        }))?;
        bar.inc(1);
        bar.set_message(format!("policy {:.4}, value {:.4}", losses.policy, losses.value));
    }
    bar.finish_and_clear();
    Ok(verdict)
}
