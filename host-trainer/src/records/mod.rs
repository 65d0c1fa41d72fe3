//! Training records: every position of every game at a fixed size, memory-mapped.
//!
//! | file | holds |
//! | --- | --- |
//! | `record.rs` | the record, and how a position is packed into it and rebuilt |
//! | `file.rs` | the file: header, writer, memory-mapped reader |
//! | `source.rs` | records from such a file or from games |
//! | `split.rs` | which groups are held out |
use std::path::Path;

mod file;
mod record;
mod source;
mod split;

pub use file::{RecordFile, Writer};
pub use record::{Played, Record, RecordError};
pub use source::Records;
pub use split::{DEFAULT_SHARE, is_held_out};

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
