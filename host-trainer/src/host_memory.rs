//! Refusing what this machine's memory cannot hold, before it is allocated: an allocation that
//! fails later ends the process without a word.
use std::fs;

use indicatif::BinaryBytes;

use crate::error::UserError;

/// Checks that `bytes` can be had now.
///
/// # Errors
/// [`UserError`] that says how much was asked for and what to lower.
pub fn require(bytes: u64) -> Result<(), UserError> {
    let free = free().filter(|free| bytes > *free);
    if free.is_none() && is_granted(bytes) {
        return Ok(());
    }
    Err(refusal(bytes, free))
}

/// What to tell the user of `bytes` that cannot be had, with what is `free` where that is known.
pub fn refusal(bytes: u64, free: Option<u64>) -> UserError {
    let there = free.map_or_else(String::new, |free| format!(" of {} free", BinaryBytes(free)));
    let what = format!("out of memory: {} are needed{there}", BinaryBytes(bytes));
    let mend = "take a smaller --preset or --config, or end other programs";
    UserError::new(what, "the network on this machine", mend)
}

/// Whether the system grants as much to this process; it is given back at once.
fn is_granted(bytes: u64) -> bool {
    usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok())
}

/// Bytes that can be had without ending other programs, where the system tells.
fn free() -> Option<u64> {
    free_in(&fs::read_to_string("/proc/meminfo").ok()?)
}

/// The memory and swap space that Linux's table says are free.
fn free_in(table: &str) -> Option<u64> {
    let kibibytes = |name: &str| -> Option<u64> {
        let line = table.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    Some(1024 * (kibibytes("MemAvailable:")? + kibibytes("SwapFree:").unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_from_the_system_s_table() {
        let table = "MemTotal:  9 kB\nMemAvailable:   5 kB\nSwapFree:  2 kB\n";
        assert_eq!(free_in(table), Some(7 * 1024));
        assert_eq!(free_in("MemAvailable:   5 kB\n"), Some(5 * 1024));
        assert_eq!(free_in("MemTotal:  9 kB\n"), None);
    }

    #[test]
    fn what_no_machine_has_is_refused() {
        require(1 << 20).unwrap();
        let line = require(1 << 60).unwrap_err().to_string();
        assert!(line.starts_with("out of memory: 1.00 EiB are needed"), "{line}");
    }
}
