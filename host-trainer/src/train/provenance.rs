//! `run.json`: what a run is, and each time that it was started: by which command, which version
//! of the program, on which device.
use std::{fs, io::Write as _, path::Path, time::SystemTime};

use anyhow::Result;
use serde_json::{Value, json};

use crate::{checkpoint::State, files::atomic_write};

const NAME: &str = "run.json";

/// What is recorded of a start.
#[derive(Debug)]
pub struct Provenance<'a> {
    /// Where the run stands.
    pub state: &'a State,
    /// Where its examples come from.
    pub place: String,
    /// The adapter with its driver, if it computes on one.
    pub adapter: Option<String>,
    /// The place of the weights that it was given.
    pub from: Option<String>,
}

impl Provenance<'_> {
    /// Writes the file, or adds this start to it.
    ///
    /// # Errors
    /// [`crate::error::UserError`] if it cannot be written.
    pub fn record(&self, run: &Path) -> Result<()> {
        let path = run.join(NAME);
        let mut file = match fs::read(&path) {
            Ok(text) if self.state.step > 0 => serde_json::from_slice(&text).unwrap_or_default(),
            _ => Value::Null,
        };
        if !file["starts"].is_array() {
            file = self.run();
        }
        if let Some(starts) = file["starts"].as_array_mut() {
            starts.push(self.start());
        }
        let text = serde_json::to_vec_pretty(&file)?;
        atomic_write(&path, |output| {
            output.write_all(&text)?;
            Ok(output.write_all(b"\n")?)
        })
    }

    fn run(&self) -> Value {
        let State { config, hash, settings, examples, .. } = self.state;
        json!({
            "config": config,
            "hash": hash,
            "settings": settings,
            "examples": {"place": self.place, "content": examples},
            "from": self.from,
            "starts": [],
        })
    }

    fn start(&self) -> Value {
        let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let command: Vec<String> =
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        json!({
            "step": self.state.step,
            "steps": self.state.settings.steps,
            "unix_time": seconds.map_or(0, |seconds| seconds.as_secs()),
            "command": command,
            "version": env!("CARGO_PKG_VERSION"),
            "commit": option_env!("KIBITZER_COMMIT"),
            "device": self.state.device,
            "precision": self.state.precision,
            "adapter": self.adapter,
            "threads": rayon::current_num_threads(),
            "system": format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        })
    }
}
