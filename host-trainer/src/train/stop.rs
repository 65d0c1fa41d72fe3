//! Ctrl-C, and requests to end.
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use anyhow::{Context as _, Result};

/// Exit status after Ctrl-C.
const INTERRUPTED: i32 = 130;

/// A flag that the first Ctrl-C, SIGTERM or SIGHUP sets, so that the work in hand can be saved.
/// The second ends the program at once; what is being written is then left under its temporary
/// name.
///
/// # Errors
/// If the signals cannot be caught.
pub fn stop_on_interrupt() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let caught = move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
    };
    ctrlc::set_handler(caught).context("catching Ctrl-C")?;
    Ok(stop)
}
