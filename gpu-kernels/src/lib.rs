//! The operations of the Kibitzer network, forward and backward, and what trains with them.
//!
//! - [`program`]: the network as a flat list of operations on planned buffers, built once from
//!   the core's table of layers.
//! - [`Backend`]: what trains and evaluates a network on some device: [`cpu`] in plain Rust,
//!   [`gpu`] in WGSL through wgpu.
//! - [`Batch`]: what goes in; [`Outputs`] and [`Losses`]: what comes out.
//! - [`parity`]: a backend's operations held against the plain Rust backend's.
//! - [`AdamW`] and [`initialise`]: the optimizer and the parameters' first values.

mod adamw;
mod backend;
mod batch;
pub mod cpu;
mod error;
pub mod gpu;
mod init;
mod memory;
pub mod parity;
mod probe;
pub mod program;

pub use adamw::{AdamW, LossScale, OptimizerState};
pub use backend::{Backend, Losses, Outputs};
pub use batch::{Batch, Pair, pairs};
pub use error::Error;
pub use init::initialise;
pub use memory::MemoryPlan;
pub use probe::{Probe, Probed, Probing};
