//! Labelled libraries as training targets: what to learn from an engine's score of every move.
//!
//! | file | holds |
//! | --- | --- |
//! | `target.rs` | scores to probabilities and to a value |
//! | `store.rs` | positions and scores, compact in memory |
//! | `read.rs` | libraries to that, in parallel, equal positions merged |
//! | `evaluations.rs`, `comments.rs` | evaluations from outside: of Lichess, and in games of engines |
//! | `view.rs` | whose view those in games are |
//! | `examples.rs` | them as training examples |
//! | `sharpness.rs` | how much the targets prefer one move to another |
pub mod comments;
pub mod evaluations;
mod examples;
mod read;
mod sharpness;
mod store;
mod target;
mod view;

pub use examples::Distillation;
pub use read::{Read, read};
pub use sharpness::{FLAT, Sharpness};
pub use store::{BYTES_BESIDE_SCORES, Labels, UNKNOWN};
pub use target::{Choice, TEMPERATURE, Target, value};
