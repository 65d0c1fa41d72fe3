//! Labelled libraries: positions with an engine's score for every legal move. `entry.rs` holds
//! the format of a line.
mod entry;

use std::{
    collections::HashSet,
    io::{BufRead as _, BufReader},
    path::Path,
};

use anyhow::Result;
pub use entry::{Entry, Score, Top, parse};
#[cfg(test)]
use kibitzer_core::shakmaty::{Position as _, uci::UciMove};
use kibitzer_core::{
    shakmaty::{Chess, Move},
    viveka::LastMove,
};

use crate::{error::UserError, pgn, positions};

/// Score of a mate, in centipawns.
pub const MATE: i32 = 10_000;
/// The most a choice can lose, in centipawns.
pub const LOSS_CAP: i32 = 1_000;
/// A position whose best move leads the second by this many centipawns is critical.
const CRITICAL_LEAD: i32 = 100;
/// Centipawns to winning chances: Lichess's logistic fit.
const CHANCE_SLOPE: f64 = 0.003_682_08;

/// Winning chances in points from 0 to 100: `W = 100 / (1 + exp(−0.00368208·cp))`.
pub fn winning_chances(centipawns: i32) -> f64 {
    chances(f64::from(centipawns))
}

/// [`winning_chances`] of an evaluation that is not an integer.
pub fn chances(centipawns: f64) -> f64 {
    100.0 / (1.0 + (-CHANCE_SLOPE * centipawns).exp())
}

/// Derivative of [`chances`], in points a centipawn.
pub fn chance_slope(centipawns: f64) -> f64 {
    let chances = chances(centipawns);
    CHANCE_SLOPE * chances * (100.0 - chances) / 100.0
}

/// A legal move with its label.
#[derive(Debug, Clone, Copy)]
pub struct LabelledMove {
    /// The move.
    pub mv: Move,
    /// Hybrid label in centipawns, from the mover's side: the deep score of the engine's top
    /// moves; for any other its shallow score, capped just below the last of them.
    pub score: i32,
    /// Whether it is one of the engine's deep top moves.
    pub top: bool,
}

/// A position of the library.
#[derive(Debug, Clone)]
pub struct LabelledPosition {
    /// Name of the opening its game came from.
    pub opening: String,
    /// The position.
    pub position: Chess,
    /// The opponent's last move.
    pub last: Option<LastMove>,
    /// Every legal move, sorted by UCI.
    pub moves: Vec<LabelledMove>,
    /// The engine's best lines, as many as it has deep scores, the best first.
    pub lines: Vec<Line>,
}

/// A principal variation.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its deep score in centipawns, from the side to move at its root.
    pub score: i32,
    /// Its moves; the first is one of the position's.
    pub moves: Vec<Move>,
}

#[cfg(test)]
impl Line {
    /// A line of moves in UCI, for tests.
    pub fn of(root: &Chess, score: i32, moves: &str) -> Line {
        let mut position = root.clone();
        let moves = moves.split_whitespace().map(|uci| {
            let mv = uci.parse::<UciMove>().unwrap().to_move(&position).unwrap();
            position.play_unchecked(mv);
            mv
        });
        Line { score, moves: moves.collect() }
    }
}

impl LabelledPosition {
    /// See [`positions::key`].
    pub fn key(&self) -> u128 {
        positions::key(&self.position)
    }

    /// The best label.
    pub fn best(&self) -> i32 {
        self.moves.iter().map(|m| m.score).max().unwrap_or(0)
    }

    /// What choosing move number `i` loses, in centipawns, from 0 to [`LOSS_CAP`].
    pub fn loss(&self, i: usize) -> i32 {
        (self.best() - self.moves[i].score).min(LOSS_CAP)
    }

    /// Winning-chance points that choosing move number `i` drops.
    pub fn chance_loss(&self, i: usize) -> f64 {
        winning_chances(self.best()) - winning_chances(self.moves[i].score)
    }

    /// Whether the best move leads the second by a pawn.
    pub fn is_critical(&self) -> bool {
        let best = self.best();
        let close = self.moves.iter().filter(|m| best - m.score < CRITICAL_LEAD).count();
        self.moves.len() > 1 && close == 1
    }
}

/// Reads a library, JSON lines or the same compressed by zstd. A position that comes again, by
/// whatever moves, counts once, as first labelled: else it would weigh twice, or be fitted on
/// and held out at once.
///
/// # Errors
/// [`UserError`] naming the file, the line and the mend: a line cut short, an illegal position
/// or move, a legal move without a label.
pub fn read(path: &Path) -> Result<Vec<LabelledPosition>> {
    let mut positions = Vec::new();
    let mut seen = HashSet::new();
    let mut again = 0;
    for (number, line) in (1..).zip(BufReader::new(pgn::open(path)?).lines()) {
        let line = line.map_err(|error| UserError::cannot_read(path, &error))?;
        if line.trim().is_empty() {
            continue;
        }
        let position = parse(&line, path, number)?;
        if seen.insert(position.key()) {
            positions.push(position);
        } else {
            again += 1;
        }
    }
    if again > 0 {
        tracing::warn!("{}: {again} positions come again; each counts once", path.display());
    }
    if positions.is_empty() {
        return Err(empty(path).into());
    }
    Ok(positions)
}

/// The refusal of a library without positions.
pub fn empty(path: &Path) -> UserError {
    let mend = "give a file with one labelled position a line";
    UserError::new("the library is empty", path.display(), mend)
}
