//! Training records: every position of every game at a fixed size, memory-mapped.
//!
//! | file | holds |
//! | --- | --- |
//! | `record.rs` | the record, and how a position is packed into it and rebuilt |
//! | `file.rs` | the file: header, writer, memory-mapped reader |
//! | `split.rs` | which games are held out, and the seeded order of the others |
mod file;
mod record;
mod split;

pub use file::{RecordFile, Writer};
pub use record::{Played, Record, RecordError};
pub use split::{DEFAULT_SHARE, Held, Order, is_held_out};
