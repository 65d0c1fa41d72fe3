//! What a training run is asked to do, and the schedule of its learning rate.
use std::f64::consts::PI;

use kibitzer_gpu::AdamW;
use serde::{Deserialize, Serialize};

use crate::{error::UserError, records::DEFAULT_SHARE};

/// The learning rate ends at this share of its peak.
const FINAL_SHARE: f64 = 0.05;

/// Everything besides the architecture and the data that decides a run's losses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Steps of the optimizer.
    pub steps: u64,
    /// Positions a step.
    pub batch: usize,
    /// Peak of the learning rate.
    pub learning_rate: f32,
    /// Steps in which it rises linearly to its peak; it falls along a cosine afterwards.
    pub warmup: u64,
    /// See [`AdamW::weight_decay`].
    pub weight_decay: f32,
    /// See [`AdamW::clip`].
    pub clip: f32,
    /// Decay of the exponential moving average of the weights, if the run keeps one; see
    /// [`Settings::average_weight`].
    pub ema: Option<f32>,
    /// Weight of the value's squared error beside the policy's cross-entropy.
    pub value_weight: f32,
    /// Decides the first parameters and the order of the positions.
    pub seed: u64,
    /// Share of the games or openings held out for validation.
    pub held_out: f64,
    /// How far bands of positions are evened out: see [`crate::order::Balanced`].
    #[serde(default)]
    pub balance: f64,
}

impl Settings {
    /// The settings that suit the preset `name`, or a network without a name.
    pub fn suiting(name: Option<&str>) -> Settings {
        let full = Settings {
            steps: 100_000,
            batch: 1024,
            learning_rate: 3e-4,
            warmup: 1000,
            weight_decay: 0.01,
            clip: 1.0,
            ema: None,
            value_weight: 0.25,
            seed: 1,
            held_out: DEFAULT_SHARE,
            balance: 0.0,
        };
        match name {
            Some("demo" | "pico" | "m4" | "m7") => {
                Settings { steps: 2000, batch: 128, learning_rate: 2e-3, warmup: 100, ..full }
            }
            _ => full,
        }
    }

    /// Refuses what cannot be trained with.
    ///
    /// # Errors
    /// [`UserError`] that names the flag and its range.
    pub fn validate(&self) -> Result<(), UserError> {
        let positive = |x: f32| x > 0.0 && x.is_finite();
        let zero_or_more = |x: f32| x >= 0.0 && x.is_finite();
        let checks = [
            ("--steps", self.steps >= 1, "at least 1"),
            ("--batch", (1..=1 << 16).contains(&self.batch), "from 1 to 65536"),
            ("--lr", positive(self.learning_rate) && self.learning_rate <= 1.0, "from 0 to 1"),
            ("--weight-decay", zero_or_more(self.weight_decay), "0 or more"),
            ("--clip", positive(self.clip), "more than 0"),
            ("--ema", self.ema.is_none_or(|d| (0.0..1.0).contains(&d)), "0 or more, below 1"),
            ("--held-out", (0.0..1.0).contains(&self.held_out), "0 or more, below 1"),
            ("--balance", (0.0..=1.0).contains(&self.balance), "from 0 to 1"),
            ("--value-weight", zero_or_more(self.value_weight), "0 or more"),
        ];
        match checks.iter().find(|check| !check.1) {
            Some((flag, _, range)) => {
                Err(UserError::new("a value out of range", flag, format_args!("give {range}")))
            }
            None => Ok(()),
        }
    }

    /// The optimizer's hyperparameters in step `step` (from 0).
    pub fn optimizer(&self, step: u64) -> AdamW {
        AdamW {
            learning_rate: self.learning_rate_at(step),
            weight_decay: self.weight_decay,
            clip: Some(self.clip),
            ..AdamW::default()
        }
    }

    /// The learning rate in step `step` (from 0).
    pub fn learning_rate_at(&self, step: u64) -> f32 {
        let warmup = self.warmup.min(self.steps / 2);
        let share = if step < warmup {
            (step + 1) as f64 / warmup as f64
        } else {
            let done = (step - warmup) as f64 / (self.steps - warmup).max(1) as f64;
            FINAL_SHARE + (1.0 - FINAL_SHARE) * 0.5 * (1.0 + (PI * done.min(1.0)).cos())
        };
        (f64::from(self.learning_rate) * share) as f32
    }

    /// How far the average of the weights moves towards them after step `step` (from 0), where
    /// the run keeps one: `a += weight · (p − a)` with weight (1−d)/(1−dᵗ), d the decay and
    /// t = step + 1. So `a = Σᵢ dᵗ⁻ⁱ pᵢ / Σᵢ dᵗ⁻ⁱ` over the weights pᵢ after the steps i = 1 … t:
    /// it needs no warm-up, and the initial weights have no part in it.
    pub fn average_weight(&self, step: u64) -> Option<f32> {
        let decay = f64::from(self.ema?);
        Some(((1.0 - decay) / (1.0 - decay.powf((step + 1) as f64))) as f32)
    }

    /// The first field, besides the number of steps, in which two runs differ: its name, what it
    /// is here and what it is there.
    pub fn difference(&self, other: &Settings) -> Option<(String, String, String)> {
        let fields = |settings: &Settings| serde_json::to_value(settings).unwrap_or_default();
        let there = fields(&Settings { steps: self.steps, ..other.clone() });
        let here = fields(self);
        let mut here = here.as_object()?.iter();
        here.find_map(|(name, value)| {
            let other = &there[name];
            (value != other).then(|| (name.clone(), value.to_string(), other.to_string()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_learning_rate_rises_then_falls() {
        let settings = Settings { steps: 1000, warmup: 100, ..Settings::suiting(None) };
        let at = |step| f64::from(settings.learning_rate_at(step) / settings.learning_rate);
        assert!((at(0) - 0.01).abs() < 1e-6);
        assert!((at(99) - 1.0).abs() < 1e-6);
        assert!((at(100) - 1.0).abs() < 1e-6);
        assert!((at(550) - 0.525).abs() < 1e-6);
        assert!((at(1000) - FINAL_SHARE).abs() < 1e-6);
        assert!((at(5000) - FINAL_SHARE).abs() < 1e-6);
    }

    #[test]
    fn the_average_s_weights_are_those_of_its_definition() {
        let settings = Settings { ema: Some(0.5), ..Settings::suiting(None) };
        let weight = |step| settings.average_weight(step).unwrap();
        assert_eq!(weight(0), 1.0);
        assert!((weight(1) - 2.0 / 3.0).abs() < 1e-6);
        assert!((weight(60) - 0.5).abs() < 1e-6);
        assert_eq!(Settings::suiting(None).average_weight(5), None);
    }

    #[test]
    fn a_run_of_one_step_has_a_rate() {
        let settings = Settings { steps: 1, ..Settings::suiting(Some("demo")) };
        assert_eq!(settings.learning_rate_at(0), settings.learning_rate);
    }

    #[test]
    fn differences_are_named_and_steps_are_none() {
        let settings = Settings::suiting(None);
        let longer = Settings { steps: 7, ..settings.clone() };
        assert_eq!(settings.difference(&longer), None);
        let other = Settings { seed: 9, ..settings.clone() };
        assert_eq!(settings.difference(&other), Some(("seed".into(), "1".into(), "9".into())));
    }

    #[test]
    fn impossible_values_are_refused_by_flag() {
        let settings = Settings { batch: 0, ..Settings::suiting(None) };
        assert_eq!(
            settings.validate().unwrap_err().to_string(),
            "a value out of range, --batch: give from 1 to 65536"
        );
        let settings = Settings { learning_rate: f32::NAN, ..Settings::suiting(None) };
        assert!(settings.validate().is_err());
    }
}
