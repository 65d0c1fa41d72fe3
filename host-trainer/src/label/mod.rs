//! Labelling: positions with an engine's score for every legal move, made by engines at work.
//!
//! | file | holds |
//! | --- | --- |
//! | `openings.rs`, `self_play.rs` | positions from games that an engine plays with itself |
//! | `given.rs` | positions from files of text, balanced over openings |
//! | `recorded.rs` | positions from a file of records |
//! | `source.rs` | any of them, by number |
//! | `moves.rs` | what is searched of one position |
//! | `ledger.rs` | the file that grows, and what makes it resume |
//! | `workers.rs` | engines side by side, and what happens when they fail |
mod given;
mod ledger;
mod moves;
mod openings;
mod recorded;
mod self_play;
mod source;
mod workers;

pub use given::Given;
pub use ledger::Ledger;
pub use moves::Depths;
pub use openings::{Opening, read as read_openings};
pub use recorded::Recorded;
pub use self_play::SelfPlay;
pub use source::{Root, Source};
pub use workers::{Outcome, Work};
