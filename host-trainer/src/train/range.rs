//! The learning-rate range test (Smith, Cyclical Learning Rates for Training Neural Networks):
//! the rate grows exponentially until the loss does.
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use kibitzer_gpu::{AdamW, Backend, Error as BackendError};
use serde::Serialize;
use serde_json::json;

use super::{Settings, loader::Loader, metrics::Metrics};
use crate::{cli::Interrupted, progress};

/// The rates of the first and of the last step.
const RATES: (f64, f64) = (1e-6, 1.0);
/// Share of the smoothed loss that stays in a step.
const SMOOTHING: f64 = 0.9;
/// The loss diverges once it is so many times the lowest.
const DIVERGED: f64 = 1.25;
/// The suggested peak is this share of the rate with the lowest loss.
const SHARE: f64 = 0.3;

/// What a range test found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Range {
    /// Steps taken.
    pub steps: u64,
    /// The rate at which the smoothed loss was lowest.
    pub lowest_at: f64,
    /// The smoothed loss there.
    pub lowest: f64,
    /// The rate at which the loss diverged, if it did.
    pub diverged_at: Option<f64>,
    /// A peak for training.
    pub suggested: f64,
}

/// The smoothed loss, without a bias towards its start, and the lowest so far.
#[derive(Debug, Clone, Copy)]
struct Watch {
    sum: f64,
    weight: f64,
    lowest: f64,
    lowest_at: f64,
}

impl Watch {
    const NEW: Watch = Watch { sum: 0.0, weight: 0.0, lowest: f64::INFINITY, lowest_at: RATES.0 };

    /// Adds a loss at a rate; returns the smoothed loss and whether it has diverged.
    fn add(&mut self, loss: f64, rate: f64) -> (f64, bool) {
        self.sum = SMOOTHING * self.sum + (1.0 - SMOOTHING) * loss;
        self.weight = SMOOTHING * self.weight + 1.0 - SMOOTHING;
        let smoothed = self.sum / self.weight;
        if smoothed < self.lowest {
            (self.lowest, self.lowest_at) = (smoothed, rate);
        }
        (smoothed, smoothed.is_nan() || smoothed > DIVERGED * self.lowest)
    }
}

/// The rate of step `step` of `steps`.
fn rate(step: u64, steps: u64) -> f64 {
    let share = step as f64 / (steps - 1).max(1) as f64;
    RATES.0 * (RATES.1 / RATES.0).powf(share)
}

/// Trains with growing rates for the steps of the settings, or until the loss diverges.
///
/// # Errors
/// [`Interrupted`] once `stop` is set; the loader's and the device's.
pub fn range_test(
    backend: &mut dyn Backend,
    loader: &mut Loader,
    settings: &Settings,
    metrics: &mut Metrics,
    stop: &AtomicBool,
) -> Result<Range> {
    let bar = progress::bar(settings.steps, "steps");
    let mut watch = Watch::NEW;
    let (mut steps, mut diverged_at) = (0, None);
    while let Some(batch) = loader.next_batch()? {
        if stop.load(Ordering::Relaxed) {
            return Err(Interrupted.into());
        }
        let rate = rate(steps, settings.steps);
        let hyper = AdamW { learning_rate: rate as f32, ..settings.optimizer(0) };
        let losses = match backend.step(&batch, &hyper, settings.value_weight) {
            Err(BackendError::Diverged { .. }) => {
                diverged_at = Some(rate);
                break;
            }
            other => other?,
        };
        steps += 1;
        let (smoothed, diverged) = watch.add(losses.total.into(), rate);
        metrics.write(&json!({
            "step": steps, "learning_rate": rate, "loss": losses.total, "smoothed": smoothed,
            "gradient_norm": losses.gradient_norm,
        }))?;
        bar.inc(1);
        bar.set_message(format!("rate {rate:.2e}, loss {smoothed:.4}"));
        if diverged {
            diverged_at = Some(rate);
            break;
        }
    }
    bar.finish_and_clear();
    let Watch { lowest, lowest_at, .. } = watch;
    Ok(Range { steps, lowest_at, lowest, diverged_at, suggested: SHARE * lowest_at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_grow_by_the_same_factor() {
        assert_eq!((rate(0, 7), rate(6, 7)), RATES);
        assert!((rate(3, 7) - 1e-3).abs() < 1e-12);
        assert_eq!(rate(0, 1), RATES.0);
    }

    #[test]
    fn the_lowest_is_kept_and_divergence_is_seen() {
        let mut watch = Watch::NEW;
        for (i, loss) in [4.0, 3.0, 2.0, 2.0].into_iter().enumerate() {
            assert!(!watch.add(loss, i as f64).1);
        }
        assert_eq!(watch.lowest_at, 3.0);
        assert!((1..30).any(|i| watch.add(9.0, 4.0 + f64::from(i)).1));
        assert_eq!(watch.lowest_at, 3.0);
        assert!(watch.add(f64::NAN, 99.0).1);
    }
}
