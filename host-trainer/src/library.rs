//! Labelled libraries: positions with an engine's score for every legal move.
use std::{
    collections::HashMap,
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use anyhow::Result;
use kibitzer_core::{
    position::parse_fen,
    shakmaty::{CastlingMode, Chess, Move, Position as _, Square, uci::UciMove},
};
use serde::Deserialize;

use crate::error::UserError;

/// Score of a mate, in centipawns.
const MATE: i32 = 10_000;
/// The most a choice can lose, in centipawns.
pub const LOSS_CAP: i32 = 1_000;
/// A position whose best move leads the second by this many centipawns is critical.
const CRITICAL_LEAD: i32 = 100;
/// Centipawns to winning chances: Lichess's logistic fit.
const CHANCE_SLOPE: f64 = 0.003_682_08;

/// Winning chances in points from 0 to 100: `W = 100 / (1 + exp(−0.00368208·cp))`.
pub fn winning_chances(centipawns: i32) -> f64 {
    100.0 / (1.0 + (-CHANCE_SLOPE * f64::from(centipawns)).exp())
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
    /// Where the opponent's last move arrived.
    pub last_to: Option<Square>,
    /// Every legal move, sorted by UCI.
    pub moves: Vec<LabelledMove>,
}

impl LabelledPosition {
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

/// A line of the file.
#[derive(Deserialize)]
struct Line {
    opening: String,
    fen: String,
    last: Option<String>,
    all: Vec<(String, Score)>,
    top: Vec<(String, Score, Vec<String>)>,
}

/// A score: centipawns, or mate as in `"m3"` and `"m-2"`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Score {
    Centipawns(i32),
    Mate(String),
}

impl Score {
    fn centipawns(&self) -> Option<i32> {
        match self {
            Score::Centipawns(cp) => Some((*cp).clamp(-MATE, MATE)),
            Score::Mate(text) => {
                let moves: i32 = text.strip_prefix('m')?.parse().ok()?;
                // "m0": the side to move is mated.
                Some(if moves > 0 { MATE } else { -MATE })
            }
        }
    }
}

/// Reads a library, JSON lines or the same compressed by zstd.
///
/// # Errors
/// [`UserError`] naming the file, the line and the mend: a line cut short, an illegal position
/// or move, a legal move without a label.
pub fn read(path: &Path) -> Result<Vec<LabelledPosition>> {
    let file = File::open(path).map_err(|error| UserError::cannot_read(path, &error))?;
    let reader: Box<dyn Read> = if path.extension().is_some_and(|e| e == "zst") {
        let decoder = zstd::stream::read::Decoder::new(file);
        Box::new(decoder.map_err(|error| UserError::cannot_read(path, &error))?)
    } else {
        Box::new(file)
    };
    let mut positions = Vec::new();
    for (number, line) in (1..).zip(BufReader::new(reader).lines()) {
        let line = line.map_err(|error| UserError::cannot_read(path, &error))?;
        if line.trim().is_empty() {
            continue;
        }
        let position = parse_line(&line).map_err(|fault| {
            let place = format!("{} line {number}", path.display());
            UserError::new(fault.what, place, fault.mend)
        })?;
        positions.push(position);
    }
    if positions.is_empty() {
        let mend = "give a file with one labelled position a line";
        return Err(UserError::new("the library is empty", path.display(), mend).into());
    }
    Ok(positions)
}

/// What is wrong with a line, and the mend.
struct Fault {
    what: String,
    mend: &'static str,
}

impl Fault {
    fn new(what: impl Into<String>, mend: &'static str) -> Fault {
        Fault { what: what.into(), mend }
    }
}

fn parse_line(text: &str) -> Result<LabelledPosition, Fault> {
    let line: Line = serde_json::from_str(text).map_err(|error| {
        let what = if error.is_eof() { "the line is cut short".into() } else { error.to_string() };
        Fault::new(what, "label the position again, or delete the line")
    })?;
    let position = parse_fen(&line.fen)
        .map_err(|error| Fault::new(error.to_string(), "correct the position's fen"))?;
    let labels = labels(&line)?;
    let mut moves = Vec::new();
    for mv in position.legal_moves() {
        let uci = mv.to_uci(CastlingMode::Standard).to_string();
        let Some(&(score, top)) = labels.get(uci.as_str()) else {
            let what = format!("the legal move {uci} has no label");
            return Err(Fault::new(what, "label every legal move, or delete the line"));
        };
        moves.push((uci, LabelledMove { mv, score, top }));
    }
    if moves.len() != labels.len() {
        let what = format!("{} labels for {} legal moves", labels.len(), moves.len());
        return Err(Fault::new(what, "label the legal moves only, or delete the line"));
    }
    moves.sort_by(|a, b| a.0.cmp(&b.0));
    let last_to = match line.last {
        None => None,
        Some(uci) => Some(last_to(&uci)?),
    };
    let moves = moves.into_iter().map(|(_, labelled)| labelled).collect();
    Ok(LabelledPosition { opening: line.opening, position, last_to, moves })
}

fn last_to(uci: &str) -> Result<Square, Fault> {
    uci.parse().ok().and_then(UciMove::to).ok_or_else(|| {
        Fault::new(format!("the last move {uci} is not a UCI move"), "write it as in e2e4, or null")
    })
}

/// The hybrid label of each move: deep where there is one, else shallow below the last deep.
fn labels(line: &Line) -> Result<HashMap<&str, (i32, bool)>, Fault> {
    let read = |uci: &str, score: &Score| {
        score.centipawns().ok_or_else(|| {
            let what = format!("the score of {uci} is neither a number nor a mate");
            Fault::new(what, "write centipawns as -94, mates as \"m3\" or \"m-2\"")
        })
    };
    let mut deep = HashMap::new();
    let mut ceiling = MATE;
    for (uci, score, _) in &line.top {
        let score = read(uci, score)?;
        ceiling = ceiling.min(score - 1);
        deep.insert(uci.as_str(), (score, true));
    }
    let mut labels = HashMap::new();
    for (uci, score) in &line.all {
        let shallow = read(uci, score)?.min(ceiling);
        labels.insert(uci.as_str(), deep.remove(uci.as_str()).unwrap_or((shallow, false)));
    }
    match deep.keys().next() {
        None => Ok(labels),
        Some(uci) => {
            let what = format!("the top move {uci} is missing from the list of all moves");
            Err(Fault::new(what, "label the position again, or delete the line"))
        }
    }
}
