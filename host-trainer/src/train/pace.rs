//! The run's clock and what is shown of it.
use std::time::{Duration, Instant};

use indicatif::HumanDuration;

use super::{loader::Loader, metrics::Means};
use crate::{checkpoint::State, progress};

/// Where no bar is shown, a line is written so often.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// Speed over the steps since the last line.
#[derive(Debug, Clone, Copy)]
pub struct Speed {
    /// Positions learned in a second of training.
    pub positions_per_second: f64,
    /// Share of that time in which the device waited for data.
    pub waiting: f64,
}

/// The clock and the bar. Validation and saving are no training: they stop the clock.
#[derive(Debug)]
pub struct Pace {
    lap: Instant,
    lap_step: u64,
    speed: Speed,
    paused: Duration,
    told: Instant,
    bar: indicatif::ProgressBar,
}

impl Pace {
    /// Starts the clock at `state`.
    pub fn start(state: &State) -> Pace {
        let bar = progress::bar(state.settings.steps, "steps");
        bar.set_position(state.step);
        bar.reset_eta();
        let now = Instant::now();
        let speed = Speed { positions_per_second: 0.0, waiting: 0.0 };
        Pace { lap: now, lap_step: state.step, speed, paused: Duration::ZERO, told: now, bar }
    }

    /// Does `work` with the clock stopped.
    pub fn pausing<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let value = work();
        self.paused += start.elapsed();
        value
    }

    /// The speed since the last lap, up to the start of `step`'s successor. Several lines may be
    /// told at once: those after the first have its speed.
    pub fn lap(&mut self, step: u64, batch: usize, loader: &mut Loader) -> Speed {
        if step == self.lap_step {
            return self.speed;
        }
        let lap = self.lap.elapsed().saturating_sub(std::mem::take(&mut self.paused));
        let seconds = lap.as_secs_f64().max(f64::MIN_POSITIVE);
        let positions = (step - self.lap_step) as f64 * batch as f64;
        self.bar.set_position(step);
        (self.lap, self.lap_step) = (Instant::now(), step);
        self.speed = Speed {
            positions_per_second: positions / seconds,
            waiting: loader.take_waited().as_secs_f64() / seconds,
        };
        self.speed
    }

    /// Shows losses, speed, waiting and time left.
    pub fn show(&mut self, means: &Means, speed: &Speed) {
        let skipped = match means.skipped {
            0 => String::new(),
            steps => format!(", {steps} steps skipped while the loss scale is found"),
        };
        let text = format!(
            "loss {:.4} (policy {:.4}, value {:.4}), {:.0} positions/s, {:.1} % waiting for data{skipped}",
            means.loss,
            means.policy,
            means.value,
            speed.positions_per_second,
            100.0 * speed.waiting,
        );
        if self.bar.is_hidden() && self.told.elapsed() > LINE_EVERY {
            let (step, left) = (self.bar.position(), HumanDuration(self.bar.eta()));
            tracing::info!("step {step}: {text}, {left} left");
            self.told = Instant::now();
        }
        self.bar.set_message(text);
    }
}
