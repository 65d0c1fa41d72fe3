//! What is in a file: numbers about the positions of any kind of file.
//!
//! | file | holds |
//! | --- | --- |
//! | `items.rs` | the positions of each kind of file, one after the other |
//! | `counts.rs` | what is counted of them |
//! | `text.rs`, `charts.rs` | it as a table and as a picture |
mod charts;
mod counts;
mod items;
mod text;

pub use charts::draw;
pub use counts::{Counts, Shared};
pub use items::{Item, each};
