//! What an adapter can do, and how near the operations come to it.
//!
//! Nothing here reads a clock: whoever measures hands one in, for adapters that do not time what
//! they run.
mod meter;
mod micro;
mod operations;
mod tuning;

pub use meter::Meter;
pub use micro::{Roof, roof, shaders};
pub use operations::{OperationSpeed, operations};
pub use tuning::{Trial, tune};
