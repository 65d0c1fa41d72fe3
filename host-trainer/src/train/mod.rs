//! Training: settings and schedule, batches prepared ahead, the run with its metrics.
mod loader;
mod metrics;
mod run;
mod settings;

pub use loader::{Loader, Plan};
pub use metrics::{Means, Metrics, Window};
pub use run::{Outcome, Run};
pub use settings::Settings;
