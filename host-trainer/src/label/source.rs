//! Where the positions come from.
use kibitzer_core::shakmaty::Chess;
use serde_json::{Value, json};

use super::{Given, Recorded, SelfPlay};
use crate::engine::{Engine, Fault};

/// Positions to label, numbered from 0.
#[derive(Debug)]
pub enum Source {
    /// From games of the engine with itself.
    SelfPlay(SelfPlay),
    /// From files.
    Given(Given),
    /// From a file of records.
    Recorded(Recorded),
}

/// A position to label, and where it comes from.
#[derive(Debug, Clone)]
pub struct Root {
    /// Name of the opening.
    pub opening: String,
    /// Number of the game.
    pub game: u64,
    /// Moves of the game before it.
    pub ply: u64,
    /// The move before it, in UCI.
    pub last: Option<String>,
    /// The position.
    pub position: Chess,
}

impl Source {
    /// How many positions there are.
    pub fn count(&self) -> u64 {
        match self {
            Source::SelfPlay(games) => games.positions,
            Source::Given(given) => given.count(),
            Source::Recorded(recorded) => recorded.count(),
        }
    }

    /// Whether number `number` is to be labelled: others say what the one before has said.
    pub fn holds(&self, number: u64) -> bool {
        match self {
            Source::SelfPlay(_) | Source::Given(_) => true,
            Source::Recorded(recorded) => recorded.is_new(number),
        }
    }

    /// Position number `number`; `None` if it has no legal move, or is damaged.
    pub(super) fn root(&self, number: u64, engine: &mut Engine) -> Result<Option<Root>, Fault> {
        match self {
            Source::SelfPlay(games) => games.root(number, engine),
            Source::Given(given) => Ok(given.root(number)),
            Source::Recorded(recorded) => Ok(recorded.root(number)),
        }
    }

    /// What decides the positions: work that goes on needs the same.
    pub fn settings(&self) -> Value {
        match self {
            Source::SelfPlay(games) => json!({
                "openings": games.openings.len(),
                "openings_digest": format!("{:016x}", games.digest()),
                "seed": games.seed,
                "play_depth": games.depth,
            }),
            Source::Given(given) => given_settings(given.count(), given.digest()),
            Source::Recorded(recorded) => given_settings(recorded.count(), recorded.digest()),
        }
    }
}

fn given_settings(count: u64, digest: u64) -> Value {
    json!({"given": count, "given_digest": format!("{digest:016x}")})
}
