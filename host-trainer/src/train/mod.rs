//! Training: settings and schedule, batches prepared ahead, the run with its metrics.
//!
//! | file | holds |
//! | --- | --- |
//! | `settings.rs` | what decides a run's losses, and the schedules that follow from it |
//! | `loader.rs` | batches prepared ahead by threads |
//! | `run.rs` | the run's steps; `pace.rs` its clock, `metrics.rs` its record of itself |
//! | `validation.rs` | the held-out examples; `saving.rs` checkpoints, and errors that end a run |
//! | `diagnostics.rs` | whether a step is sound |
//! | `nonfinite.rs` | which tensor stops being finite first |
//! | `overfit.rs`, `floor.rs` | learning one batch by heart, and the least loss possible |
//! | `range.rs` | the learning-rate range test |
//! | `provenance.rs` | `run.json`: what a run is and how it was started |
//! | `stop.rs` | Ctrl-C |
mod diagnostics;
mod floor;
mod loader;
mod metrics;
mod nonfinite;
mod overfit;
mod pace;
mod provenance;
mod range;
mod run;
mod saving;
mod settings;
mod stop;
mod validation;

pub use diagnostics::{Diagnosis, Diagnostics, GroupReport, Noise};
pub use floor::Floor;
pub use loader::{Loader, Plan};
pub use metrics::{METRICS, Means, Metrics, OVERFIT, RANGE, Window};
pub use overfit::{Verdict, overfit};
pub use provenance::Provenance;
pub use range::{Range, range_test};
pub use run::{Outcome, Run};
pub use settings::Settings;
pub use stop::stop_on_interrupt;
