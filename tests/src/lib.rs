//! Tests that cross crates live in `tests/tests/`; this library holds what they share.
pub mod clients;

use std::path::{Path, PathBuf};

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the root")
}

/// A committed data file.
pub fn fixture(name: &str) -> PathBuf {
    root().join("fixtures").join(name)
}
