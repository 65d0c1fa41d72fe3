//! What goes wrong in an inference.
use core::cell::Cell;

use crate::net::kbz::ModelError;

/// The first thing that goes wrong in an inference.
///
/// Who meets it notes it here and returns `None`. So a result is a word, where the error itself has
/// 24 bytes, which each of the callers would hand on: a tenth of the code of inference.
#[derive(Debug, Default)]
pub struct Faults(Cell<Option<ModelError>>);

impl Faults {
    /// Notes a fault, if it is the first.
    #[cold]
    #[inline(never)]
    pub fn note(&self, error: ModelError) {
        if self.0.get().is_none() {
            self.0.set(Some(error));
        }
    }

    /// Notes a fault, and is nothing.
    pub fn refuse<T>(&self, error: ModelError) -> Option<T> {
        self.note(error);
        None
    }

    /// What was found, or why not: the first fault, or `unnoted` where there is none.
    pub fn outcome<T>(&self, found: Option<T>, unnoted: ModelError) -> Result<T, ModelError> {
        found.ok_or(self.0.get().unwrap_or(unnoted))
    }
}
