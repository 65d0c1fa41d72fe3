//! Training: settings and schedule, batches prepared ahead, the run with its metrics and what
//! tells whether it is sound.
mod diagnostics;
mod loader;
mod metrics;
mod run;
mod settings;

pub use diagnostics::{Diagnosis, Diagnostics, GroupReport, Noise};
pub use loader::{Loader, Plan};
pub use metrics::{METRICS, Means, Metrics, Window};
pub use run::{Outcome, Run};
pub use settings::Settings;
