//! The network: its description as data, its file, and inference in integers.
mod aligned;
mod config;
pub mod infer;
pub mod kbz;
mod layers;
mod presets;

pub use aligned::Aligned;
pub use config::{Config, ConfigError, PolicyHead, Trunk, TrunkBlock};
pub use infer::{Evaluation, ScoredMove, ample_scratch_bytes, scratch_bytes};
pub use kbz::{InputBits, Model, ModelError, Precision, ReadError, Source, WeightBits};
pub use layers::{Layer, Place, Role, Shape, Tensor, hash, layers, parameter_count, tensors};
pub use presets::{Board, DEMO, FULL, M4, M7, PICO, PRESETS, Preset, preset};
