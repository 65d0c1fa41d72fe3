//! Training records: the positions of games at a fixed size, memory-mapped.
//!
//! | file | holds |
//! | --- | --- |
//! | `packed.rs` | a position in 32 bytes |
//! | `record.rs` | the record: position, moves played, outcomes |
//! | `file.rs` | the file: header, writer, memory-mapped reader |
//! | `observation.rs`, `sort.rs`, `merge.rs` | games to records: moves sorted by position, equal positions merged |
//! | `pack.rs` | that, from the games' text or from other files of records |
//! | `source.rs` | records from such a file or from games |
//! | `split.rs` | which groups are held out |
use std::path::Path;

mod file;
mod merge;
mod observation;
mod pack;
mod packed;
mod record;
mod sort;
mod source;
mod split;

pub use file::{RecordFile, Writer};
pub use merge::Merged;
pub use observation::{Observation, Seen};
pub use pack::{Packing, join, pack};
pub use packed::PackedPosition;
pub use record::{Outcomes, Played, PlayedOften, Record, RecordError, Side};
pub use source::Records;
pub use split::{DEFAULT_SHARE, Split, is_held_out};

use crate::error::UserError;

/// Names the file at `path` as the damaged one if a [`RecordError`] is at the root of `error`.
pub fn blame(error: anyhow::Error, path: &Path) -> anyhow::Error {
    match error.downcast_ref::<RecordError>() {
        Some(damage) => {
            UserError::new(damage, path.display(), "make it again with kibitzer pack").into()
        }
        None => error,
    }
}
