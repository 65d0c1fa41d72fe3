//! The format of a library: one JSON object a line.
use std::{cmp::Reverse, collections::HashMap, path::Path};

use kibitzer_core::{
    position::parse_fen,
    shakmaty::{Chess, Position as _, uci::UciMove},
    viveka::LastMove,
};
use serde::{Deserialize, Serialize};

use super::{LabelledMove, LabelledPosition, Line, MATE};
use crate::{error::UserError, network::uci};

/// A line of the file: a position and what an engine says of its moves.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Entry {
    /// Number of the position in the work that it was labelled in; no other line has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// Name of the opening its game came from.
    pub opening: String,
    /// Number of its game.
    #[serde(default)]
    pub game: u64,
    /// Moves of the game before it.
    #[serde(default)]
    pub ply: u64,
    /// The position.
    pub fen: String,
    /// The opponent's last move in UCI.
    pub last: Option<String>,
    /// Every legal move in UCI with its score, sorted.
    pub all: Vec<(String, Score)>,
    /// Depth of these scores, in plies.
    #[serde(default)]
    pub all_depth: u32,
    /// The best moves, deeper.
    pub top: Vec<Top>,
    /// Depth of these, in plies.
    #[serde(default)]
    pub top_depth: u32,
    /// Name and version of the engine.
    #[serde(default)]
    pub engine: String,
}

/// A deep move: its UCI, its score, and its line, which starts with it.
pub type Top = (String, Score, Vec<String>);

/// A score from the mover's side: centipawns, or mate as in `"m3"` and `"m-2"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Score {
    /// Centipawns.
    Centipawns(i32),
    /// Moves until mate, negative where the mover is mated.
    Mate(String),
}

impl Score {
    /// Mate in so many moves, negative where the mover is mated.
    pub fn mate(moves: i32) -> Score {
        Score::Mate(format!("m{moves}"))
    }

    /// The score in centipawns, within [`MATE`]; `None` if it is neither.
    pub fn centipawns(&self) -> Option<i32> {
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

/// The position that line `number` of the library at `path` holds.
///
/// # Errors
/// [`UserError`] naming the file, the line and the mend, as [`read`].
pub fn parse(line: &str, path: &Path, number: usize) -> Result<LabelledPosition, UserError> {
    parse_line(line).map_err(|fault| {
        let place = format!("{} line {number}", path.display());
        UserError::new(fault.what, place, fault.mend)
    })
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
    let record: Entry = serde_json::from_str(text).map_err(|error| {
        let what = if error.is_eof() { "the line is cut short".into() } else { error.to_string() };
        Fault::new(what, "label the position again, or delete the line")
    })?;
    let position = parse_fen(&record.fen)
        .map_err(|error| Fault::new(error.to_string(), "correct the position's fen"))?;
    let legal = position.legal_moves();
    if legal.is_empty() {
        let what = "the game is over in this position";
        return Err(Fault::new(what, "label positions with a legal move, or delete the line"));
    }
    let labels = labels(&record)?;
    let mut moves = Vec::new();
    for mv in legal {
        let uci = uci(mv);
        let Some(&(score, top)) = labels.get(uci.as_str()) else {
            let what = format!("the legal move {uci} has no label");
            return Err(Fault::new(what, "label every legal move, or delete the line"));
        };
        moves.push((uci, LabelledMove { mv, score, top }));
    }
    // Sorted, so that of several the same one is named each time.
    let mut labelled: Vec<&str> = labels.keys().copied().collect();
    labelled.sort_unstable();
    if let Some(uci) = labelled.iter().find(|&&uci| moves.iter().all(|(legal, _)| legal != uci)) {
        let what = format!("the labelled move {uci} is illegal");
        return Err(Fault::new(what, "label the legal moves only, or delete the line"));
    }
    moves.sort_by(|a, b| a.0.cmp(&b.0));
    let last = record.last.as_deref().map(last_move).transpose()?;
    let moves = moves.into_iter().map(|(_, labelled)| labelled).collect();
    let lines = record.top.iter().map(|top| principal_variation(&position, top));
    let mut lines = lines.collect::<Result<Vec<_>, _>>()?;
    lines.sort_by_key(|line| Reverse(line.score));
    Ok(LabelledPosition { opening: record.opening, position, last, moves, lines })
}

/// A deep line, its moves played out from `root`.
fn principal_variation(root: &Chess, top: &Top) -> Result<Line, Fault> {
    let (first, score, line) = top;
    let wrong = |uci: &str| {
        let what = format!("the line of {first} has the illegal move {uci}");
        Fault::new(what, "label the position again, or delete the line")
    };
    if line.first().is_some_and(|start| start != first) {
        return Err(Fault::new(
            format!("the line of {first} starts with {}", line[0]),
            "label the position again, or delete the line",
        ));
    }
    let mut position = root.clone();
    let mut moves = Vec::with_capacity(line.len());
    for uci in line {
        let mv: UciMove = uci.parse().map_err(|_| wrong(uci))?;
        let mv = mv.to_move(&position).map_err(|_| wrong(uci))?;
        position.play_unchecked(mv);
        moves.push(mv);
    }
    Ok(Line { score: read_score(first, score)?, moves })
}

fn last_move(uci: &str) -> Result<LastMove, Fault> {
    uci.parse().ok().and_then(|uci| LastMove::from_uci(&uci)).ok_or_else(|| {
        Fault::new(format!("the last move {uci} is not a UCI move"), "write it as in e2e4, or null")
    })
}

/// The score of the move `uci`, in centipawns.
fn read_score(uci: &str, score: &Score) -> Result<i32, Fault> {
    score.centipawns().ok_or_else(|| {
        let what = format!("the score of {uci} is neither a number nor a mate");
        Fault::new(what, "write centipawns as -94, mates as \"m3\" or \"m-2\"")
    })
}

fn two_labels(uci: &str) -> Fault {
    let what = format!("the move {uci} has two labels");
    Fault::new(what, "label the position again, or delete the line")
}

/// The hybrid label of each move: deep where there is one, else shallow below the last deep.
fn labels(record: &Entry) -> Result<HashMap<&str, (i32, bool)>, Fault> {
    if record.top.is_empty() {
        let what = "no move has a deep label";
        return Err(Fault::new(what, "give the engine's best moves in top, or delete the line"));
    }
    let mut deep = HashMap::new();
    let mut ceiling = MATE;
    for (uci, score, _) in &record.top {
        let score = read_score(uci, score)?;
        ceiling = ceiling.min(score - 1);
        if deep.insert(uci.as_str(), (score, true)).is_some() {
            return Err(two_labels(uci));
        }
    }
    let mut labels = HashMap::new();
    for (uci, score) in &record.all {
        let shallow = read_score(uci, score)?.min(ceiling);
        let label = deep.remove(uci.as_str()).unwrap_or((shallow, false));
        if labels.insert(uci.as_str(), label).is_some() {
            return Err(two_labels(uci));
        }
    }
    match deep.keys().min() {
        None => Ok(labels),
        Some(uci) => {
            let what = format!("the top move {uci} is missing from the list of all moves");
            Err(Fault::new(what, "label the position again, or delete the line"))
        }
    }
}

#[cfg(test)]
mod tests {
    use kibitzer_core::shakmaty::Square;

    use super::*;
    use crate::library::winning_chances;

    /// A king and a pawn: e1 has five moves, the pawn two.
    fn line(all: &str, top: &str) -> Result<LabelledPosition, Fault> {
        parse_line(&format!(
            r#"{{"opening": "x", "game": 0, "ply": 9, "fen": "4k3/8/8/8/8/8/P7/4K3 w - - 0 1",
                "last": "e7e8", "all": [{all}], "top": [{top}]}}"#
        ))
    }

    const ALL: &str = r#"["a2a3", 250], ["a2a4", "m3"], ["e1d1", -40], ["e1d2", 60],
        ["e1e2", 500], ["e1f1", "m-2"], ["e1f2", -2000]"#;
    const TOP: &str = r#"["a2a4", 210, []], ["a2a3", 90, []], ["e1d2", 40, []]"#;

    #[test]
    fn labels_are_deep_where_they_can_be_and_below_the_last_deep_elsewhere() {
        let position = line(ALL, TOP).ok().unwrap();
        let scores: Vec<i32> = position.moves.iter().map(|m| m.score).collect();
        // a2a3, a2a4, e1d1, e1d2, e1e2, e1f1, e1f2.
        assert_eq!(scores, [90, 210, -40, 40, 39, -10_000, -2_000]);
        let top: Vec<bool> = position.moves.iter().map(|m| m.top).collect();
        assert_eq!(top, [true, true, false, true, false, false, false]);
        assert_eq!(position.last, Some(LastMove { from: Square::E7, to: Square::E8 }));
    }

    #[test]
    fn losses_are_capped_and_chances_follow_the_logistic_curve() {
        let position = line(ALL, TOP).ok().unwrap();
        let losses: Vec<i32> = (0..7).map(|i| position.loss(i)).collect();
        assert_eq!(losses, [120, 0, 250, 170, 171, 1000, 1000]);
        assert!((winning_chances(0) - 50.0).abs() < 1e-12);
        // 100 / (1 + exp(-0.368208)) by hand.
        assert!((winning_chances(100) - 59.102_6).abs() < 1e-3);
        let drop = winning_chances(210) - winning_chances(90);
        assert!((position.chance_loss(0) - drop).abs() < 1e-12);
        assert!(position.is_critical(), "the best leads by 120");
        let close = r#"["a2a4", 180, []], ["a2a3", 90, []], ["e1d2", 40, []]"#;
        assert!(!line(ALL, close).ok().unwrap().is_critical(), "the best leads by 90");
    }

    #[test]
    fn mates_count_as_ten_thousand() {
        let mate = r#"["a2a4", "m5", []], ["a2a3", "m-7", []], ["e1d2", "m-1", []]"#;
        let scores: Vec<i32> =
            line(ALL, mate).ok().unwrap().moves.iter().map(|m| m.score).collect();
        assert_eq!(scores, [-10_000, 10_000, -10_001, -10_000, -10_001, -10_001, -10_001]);
    }

    #[test]
    fn what_a_line_lacks_is_told() {
        let what = |all: &str, top: &str| line(all, top).err().unwrap().what;
        assert_eq!(what(ALL, ""), "no move has a deep label");
        let twice = format!(r#"{ALL}, ["a2a3", 1]"#);
        assert_eq!(what(&twice, TOP), "the move a2a3 has two labels");
        let twice = format!(r#"{TOP}, ["a2a3", 1, []]"#);
        assert_eq!(what(ALL, &twice), "the move a2a3 has two labels");
        let top = r#"["a2a5", 3, []]"#;
        assert_eq!(what(ALL, top), "the top move a2a5 is missing from the list of all moves");
        let top = r#"["a2a4", 3, ["a2a4", "a4a5"]]"#;
        assert_eq!(what(ALL, top), "the line of a2a4 has the illegal move a4a5");
        let top = r#"["a2a4", 3, ["a2a3", "e8e7"]]"#;
        assert_eq!(what(ALL, top), "the line of a2a4 starts with a2a3");
    }

    #[test]
    fn lines_come_best_first_in_whatever_order_the_file_has_them() {
        let top = r#"["e1d2", 40, []], ["a2a4", 210, []], ["a2a3", 90, []]"#;
        let lines = line(ALL, top).ok().unwrap().lines;
        assert_eq!(lines.iter().map(|line| line.score).collect::<Vec<_>>(), [210, 90, 40]);
    }
}
