//! `state.json`: where a run stands.
use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    path::Path,
};

use anyhow::Result;
use kibitzer_core::net::Config;
use serde::{Deserialize, Serialize};

use crate::{
    device::{Device, Precision},
    error::UserError,
    examples::ExamplesName,
    model::hash_text,
    train::{Settings, Window},
};

const VERSION: u32 = 3;

/// Where a run stands. The order of the positions follows from the seed and the cursor alone, so
/// they are the whole random state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Version of this file.
    pub version: u32,
    /// Steps taken.
    pub step: u64,
    /// Positions taken from the order of training: the next batch starts at this place in it.
    pub cursor: u64,
    /// Hash of the architecture, 16 hexadecimal digits.
    pub hash: String,
    /// The architecture.
    pub config: Config,
    /// What the run was asked to do, its schedule and seed included.
    pub settings: Settings,
    /// What it learns from.
    pub examples: ExamplesName,
    /// Where it was computed.
    pub device: Device,
    /// How activations were stored.
    pub precision: Precision,
    /// Losses since the last line of the metrics.
    pub window: Window,
    /// Steps among those taken that the optimizer skipped, because a gradient overflowed.
    pub skipped: u64,
    /// The optimizer's loss scale and the steps since it changed, in 16-bit precision.
    pub loss_scale: Option<(f32, u32)>,
    /// The step that did best on the held-out examples, if any was measured.
    pub best: Option<Best>,
    /// The CRC-32 of each other file of a checkpoint; empty in a run at work.
    pub checksums: BTreeMap<String, String>,
}

/// A step with its cross-entropy on the held-out examples, that of the averaged weights where
/// the run keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Best {
    /// The step.
    pub step: u64,
    /// The cross-entropy, nats.
    pub cross_entropy: f64,
}

impl State {
    /// The state before the first step.
    pub fn new(
        config: Config,
        settings: Settings,
        examples: ExamplesName,
        device: Device,
    ) -> State {
        State {
            version: VERSION,
            step: 0,
            cursor: 0,
            hash: hash_text(&config),
            config,
            settings,
            examples,
            device,
            precision: Precision::default(),
            window: Window::default(),
            skipped: 0,
            loss_scale: None,
            best: None,
            checksums: BTreeMap::new(),
        }
    }

    pub(super) fn write(&self, output: &mut impl Write) -> Result<()> {
        serde_json::to_writer_pretty(&mut *output, self).map_err(io::Error::from)?;
        Ok(output.write_all(b"\n")?)
    }

    pub(super) fn load(path: &Path) -> Result<State> {
        let refuse = |what: String| refuse(path, what);
        let text = fs::read(path).map_err(|error| UserError::cannot_read(path, &error))?;
        if let Some(version) = other_version(&text) {
            let what = format!("state of version {version} where {VERSION} is read");
            return Err(refuse(what).into());
        }
        let state: State = serde_json::from_slice(&text).map_err(|error| broken(path, &error))?;
        state.config.validate().map_err(|error| refuse(error.to_string()))?;
        let wanted = hash_text(&state.config);
        if state.hash != wanted {
            let found = &state.hash;
            return Err(refuse(format!(
                "architecture hash {found} where this program's tables give {wanted}"
            ))
            .into());
        }
        Ok(state)
    }

    /// Whether the file at `path`, whole or broken, is not another version's.
    pub(super) fn is_of_this_version(path: &Path) -> bool {
        !fs::read(path).is_ok_and(|text| other_version(&text).is_some())
    }

    /// The refusal of something at `place` that belongs to the architecture `other`.
    pub fn foreign(&self, place: &Path, other: &Config) -> UserError {
        UserError::new(
            format_args!("architecture hash {} where the run has {}", hash_text(other), self.hash),
            place.display(),
            "resume with the run's own configuration or choose another folder",
        )
    }
}

fn refuse(path: &Path, what: String) -> UserError {
    UserError::new(what, path.display(), "take another checkpoint or start a new run")
}

fn broken(path: &Path, error: &serde_json::Error) -> UserError {
    refuse(path, format!("the state is broken ({error})"))
}

/// The checksums that the state at `path` records, whatever its version; none where there is no
/// state.
pub(super) fn checksums(path: &Path) -> Result<BTreeMap<String, String>> {
    #[derive(Deserialize)]
    struct Recorded {
        #[serde(default)]
        checksums: BTreeMap<String, String>,
    }
    let text = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        text => text.map_err(|error| UserError::cannot_read(path, &error))?,
    };
    let broken = |error| broken(path, &error);
    Ok(serde_json::from_slice::<Recorded>(&text).map_err(broken)?.checksums)
}

/// The version of a state that is not [`VERSION`]'s, whatever else it says.
fn other_version(text: &[u8]) -> Option<u32> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let Version { version } = serde_json::from_slice(text).ok()?;
    (version != VERSION).then_some(version)
}
