//! Training runs as charts.
//!
//! | file | holds |
//! | --- | --- |
//! | `history.rs` | what a run's metrics say, step by step |
//! | `charts.rs` | which of it is drawn together |
//! | `sheet.rs` | charts one below the other, as one SVG |
mod charts;
mod history;
pub mod sheet;

pub use charts::draw;
pub use history::History;
