//! What engines do wrong.
use std::time::Duration;

use crate::error::UserError;

/// Why an engine has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It ended, or closed its output.
    #[error("the engine stopped answering")]
    Gone,
    /// It said nothing for so long, or did not come to an end.
    #[error("the engine did not answer within {} s", .0.as_secs_f64())]
    Silent(Duration),
    /// A move that the rules do not allow.
    #[error("illegal move {mv} in {fen}")]
    Illegal {
        /// The move as it was written.
        mv: String,
        /// The position.
        fen: String,
    },
    /// Fewer moves than were asked for.
    #[error("no score for some of the {wanted} moves asked for in {fen}")]
    Missing {
        /// How many were asked for.
        wanted: usize,
        /// The position.
        fen: String,
    },
    /// It has stopped at a lesser depth, without a deadline.
    #[error("depth {depth} where {wanted} was asked for in {fen}")]
    Shallow {
        /// The depth that it reached.
        depth: u32,
        /// The depth asked for.
        wanted: u32,
        /// The position.
        fen: String,
    },
    /// The work is to stop: no fault of the engine.
    #[error("interrupted")]
    Stopped,
}

impl Fault {
    /// As a mistake in choosing the engine `command`.
    pub fn of(self, command: &str) -> UserError {
        let mend = match self {
            Fault::Illegal { .. } => "use an engine that knows the rules",
            Fault::Shallow { .. } => "use an engine that searches to the depth it is told",
            Fault::Missing { .. } => "use an engine that has MultiPV and searchmoves",
            _ => "give the command of a UCI engine that runs here",
        };
        UserError::new(self, format!("engine {command}"), mend)
    }
}
