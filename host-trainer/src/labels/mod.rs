//! Labelled libraries as training targets: what to learn from an engine's score of every move.
//!
//! | file | holds |
//! | --- | --- |
//! | `target.rs` | scores to probabilities and to a value |
//! | `store.rs` | positions and scores, compact in memory |
//! | `read.rs` | libraries to that, in parallel, equal positions merged |
//! | `examples.rs` | them as training examples |
//! | `sharpness.rs` | how much the targets prefer one move to another |
mod examples;
mod read;
mod sharpness;
mod store;
mod target;

pub use examples::Distillation;
pub use read::{Read, read, recognises};
pub use sharpness::{FLAT, Sharpness};
pub use store::{BYTES_BESIDE_SCORES, Labels};
pub use target::{Choice, TEMPERATURE, Target, value};
