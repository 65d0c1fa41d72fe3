//! How an engine is run.
use std::{
    str::FromStr,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

/// An engine that says nothing for this long is taken for dead. Engines in WASM take some
/// seconds to start; a search at a judge's depth is over in less.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// A UCI option and its value, as `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UciOption {
    /// Its name, which may hold spaces.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl FromStr for UciOption {
    type Err = String;

    fn from_str(text: &str) -> Result<UciOption, String> {
        let (name, value) = text.split_once('=').ok_or("give NAME=VALUE, as in Hash=64")?;
        let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
        if name.is_empty() || name.eq_ignore_ascii_case("MultiPV") {
            return Err("give the name of an option; MultiPV is set as it is needed".into());
        }
        Ok(UciOption { name, value })
    }
}

/// How an engine is run.
#[derive(Debug, Clone)]
pub struct Setup {
    /// A program and its arguments, separated by spaces.
    pub command: String,
    /// Options that it is given.
    pub options: Vec<UciOption>,
    /// How long it may say nothing.
    pub patience: Duration,
    /// How long it may say nothing while it starts.
    pub start_patience: Duration,
    /// Set from outside to stop waiting.
    pub stop: Arc<AtomicBool>,
}

impl Setup {
    /// An engine as it comes.
    pub fn new(command: &str) -> Setup {
        let stop = Arc::default();
        let (patience, start_patience) = (PATIENCE, PATIENCE);
        Setup { command: command.into(), options: vec![], patience, start_patience, stop }
    }
}
