//! The network: its description as data, its file, and inference in integers.
mod config;
mod layers;

pub use config::{Config, ConfigError, PolicyHead, TrunkBlock};
pub use layers::{Layer, Place, Role, Shape, Tensor, hash, layers, parameter_count, tensors};
