//! The run's record of itself: `metrics.jsonl`, one JSON object a line.
use std::{
    fs::{self, File, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Result;
use kibitzer_gpu::Losses;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{error::UserError, files::atomic_write};

/// The file of a run's metrics, in its folder.
pub const METRICS: &str = "metrics.jsonl";
/// The file of a learning-rate range test.
pub const RANGE: &str = "lr-range.jsonl";
/// The file of a trial to learn one batch by heart.
pub const OVERFIT: &str = "overfit.jsonl";

/// Sums over the steps since the last line; part of the checkpoint, so that a resumed run writes
/// the same lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Window {
    steps: u64,
    #[serde(default)]
    skipped: u64,
    total: f64,
    policy: f64,
    value: f64,
    gradient_norm: f64,
}

impl Window {
    /// Adds one step, if it was not skipped.
    pub fn add(&mut self, losses: &Losses) {
        if losses.skipped {
            self.skipped += 1;
            return;
        }
        self.steps += 1;
        self.total += f64::from(losses.total);
        self.policy += f64::from(losses.policy);
        self.value += f64::from(losses.value);
        self.gradient_norm += f64::from(losses.gradient_norm);
    }

    /// The means, and an empty window.
    pub fn take(&mut self) -> Means {
        let Window { steps, skipped, total, policy, value, gradient_norm } = std::mem::take(self);
        let mean = |sum: f64| sum / steps as f64;
        Means {
            skipped,
            loss: mean(total),
            policy: mean(policy),
            value: mean(value),
            gradient_norm: mean(gradient_norm),
        }
    }
}

/// Means over the steps of a window; not a number, `null` in JSON, if all were skipped.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Means {
    /// Steps skipped because the gradient overflowed 16-bit floats.
    pub skipped: u64,
    /// What is minimised.
    pub loss: f64,
    /// Cross-entropy of the policy, nats.
    pub policy: f64,
    /// Squared error of the value.
    pub value: f64,
    /// Norm of the gradient before clipping.
    pub gradient_norm: f64,
}

/// The file, open for more lines.
#[derive(Debug)]
pub struct Metrics {
    file: File,
    path: PathBuf,
}

impl Metrics {
    /// Opens the file in `folder` and drops the lines of steps after `step`, which a run that was
    /// killed after its last checkpoint has left.
    ///
    /// # Errors
    /// [`UserError`] if it cannot be read or written.
    pub fn open(folder: &Path, step: u64) -> Result<Metrics> {
        Metrics::named(folder, METRICS, step)
    }

    /// As [`Metrics::open`], for a file with another name.
    ///
    /// # Errors
    /// [`UserError`] if it cannot be read or written.
    pub fn named(folder: &Path, name: &str, step: u64) -> Result<Metrics> {
        let path = folder.join(name);
        let old = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(UserError::cannot_read(&path, &error).into()),
        };
        let kept: Vec<&str> = old.lines().filter(|line| is_until(line, step)).collect();
        atomic_write(&path, |file| {
            Ok(kept.iter().try_for_each(|line| writeln!(file, "{line}"))?)
        })?;
        let file = OpenOptions::new().append(true).open(&path);
        let file = file.map_err(|error| UserError::cannot_write(&path, &error))?;
        Ok(Metrics { file, path })
    }

    /// Appends one line.
    ///
    /// # Errors
    /// [`UserError`] if the disk is full.
    pub fn write(&mut self, line: &Value) -> Result<()> {
        // One call, so that a kill leaves at most one broken line, which `open` drops.
        let line = format!("{line}\n");
        let written = self.file.write_all(line.as_bytes());
        Ok(written.map_err(|error| UserError::cannot_write(&self.path, &error))?)
    }
}

/// Whether the line is whole and belongs to a step up to `step`.
fn is_until(line: &str, step: u64) -> bool {
    serde_json::from_str::<Value>(line)
        .is_ok_and(|value| value["step"].as_u64().is_some_and(|s| s <= step))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_after_the_checkpoint_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(METRICS);
        let mut metrics = Metrics::open(folder.path(), 0).unwrap();
        for step in 1..=4 {
            metrics.write(&json!({"step": step})).unwrap();
        }
        fs::write(&path, fs::read_to_string(&path).unwrap() + "{\"step\": 1, \"lo").unwrap();
        Metrics::open(folder.path(), 2).unwrap().write(&json!({"step": 3})).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "{\"step\":1}\n{\"step\":2}\n{\"step\":3}\n");
    }

    #[test]
    fn a_window_has_means_and_is_emptied() {
        let mut window = Window::default();
        for policy in [1.0, 3.0] {
            let norms = Losses { gradient_norm: 2.0, ..Losses::default() };
            window.add(&Losses { policy, value: 0.5, total: policy, ..norms });
        }
        let overflown = Losses { gradient_norm: f32::INFINITY, skipped: true, ..Losses::default() };
        window.add(&overflown);
        let means = window.take();
        assert_eq!(means.skipped, 1);
        assert_eq!((means.policy, means.value, means.gradient_norm), (2.0, 0.5, 2.0));
        assert_eq!(window, Window::default());
        window.add(&overflown);
        assert!(window.take().loss.is_nan());
    }
}
