//! Evaluations as Lichess publishes them: one JSON object a line, with a FEN and searches of
//! several depths, each with one line or more; scores from White's side.
use std::{
    io::{BufRead as _, BufReader},
    path::Path,
};

use anyhow::Result;
use kibitzer_core::shakmaty::{Chess, Move, Position as _, uci::UciMove};
use serde::Deserialize;

use crate::{
    chess960,
    epd::{self, Fault, Skipped},
    error::UserError,
    library::Score,
    pgn,
};

/// A line of the file.
#[derive(Deserialize)]
struct Evaluated {
    fen: String,
    evals: Vec<Evaluation>,
}

/// A search.
#[derive(Deserialize)]
struct Evaluation {
    #[serde(default)]
    depth: u32,
    pvs: Vec<Variation>,
}

/// One line of a search.
#[derive(Deserialize)]
struct Variation {
    cp: Option<i32>,
    mate: Option<i32>,
    line: String,
}

impl Variation {
    /// Its score in centipawns from White's side.
    fn white(&self) -> Option<i32> {
        match (self.cp, self.mate) {
            (Some(cp), _) => Score::Centipawns(cp).centipawns(),
            (None, Some(moves)) => Score::mate(moves).centipawns(),
            (None, None) => None,
        }
    }
}

/// A position with scores from the mover's side for some of its legal moves, at least one.
#[derive(Debug)]
pub struct Partial {
    /// The position.
    pub position: Chess,
    /// Moves with their scores in centipawns, at most those of a mate.
    pub scores: Vec<(Move, i32)>,
    /// Depth in plies; 0 if it is not told.
    pub depth: u32,
}

/// Hands every position of the file at `path` to `take`, with the number of its line. Lines that
/// say nothing are left out.
///
/// # Errors
/// [`UserError`] if the file cannot be read or no line is sound; `take`'s own.
pub fn read(path: &Path, mut take: impl FnMut(Partial, usize) -> Result<()>) -> Result<Skipped> {
    let mut skipped = Skipped::default();
    let mut found = false;
    for (number, line) in (1..).zip(BufReader::new(pgn::open(path)?).split(b'\n')) {
        let line = line.map_err(|error| UserError::cannot_read(path, &error))?;
        // A line that is no text is broken like any other.
        let line = String::from_utf8_lossy(&line);
        if line.trim().is_empty() {
            continue;
        }
        match parse(&line) {
            Ok(partial) => {
                found = true;
                take(partial, number)?;
            }
            Err(why) => skipped.add(path, number, why),
        }
    }
    if !found {
        let what = match skipped.reasons.first() {
            Some(reason) => format!("no evaluation ({reason})"),
            None => "no evaluation".into(),
        };
        let mend = "give JSON lines with fen and evals";
        return Err(UserError::new(what, path.display(), mend).into());
    }
    Ok(skipped)
}

/// The position of a line with the scores of its deepest search, of equally deep ones of that
/// with the most lines.
///
/// # Errors
/// What is wrong with the line, in words.
fn parse(line: &str) -> Result<Partial, String> {
    let evaluated: Evaluated = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let epd = epd::parse(&evaluated.fen).map_err(|fault| fault.to_string())?;
    let position = epd.ok_or("no position")?.position;
    if chess960::sign(&evaluated.fen, &position).is_some() {
        return Err(Fault::Shuffled.to_string());
    }
    let deepest = evaluated.evals.iter().max_by_key(|eval| (eval.depth, eval.pvs.len()));
    let deepest = deepest.ok_or("no evaluation")?;
    let mut scores: Vec<(Move, i32)> = Vec::new();
    for variation in &deepest.pvs {
        let first = variation.line.split_whitespace().next().unwrap_or_default();
        let uci: Option<UciMove> = first.parse().ok();
        let mv = uci.and_then(|uci| uci.to_move(&position).ok());
        let mv = mv.ok_or_else(|| format!("the move {first} is not legal"))?;
        let white = variation.white().ok_or_else(|| format!("no score for {first}"))?;
        if scores.iter().all(|(other, _)| *other != mv) {
            scores.push((mv, if position.turn().is_white() { white } else { -white }));
        }
    }
    if scores.is_empty() {
        return Err("no evaluation".into());
    }
    Ok(Partial { position, scores, depth: deepest.depth })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::uci;

    const FEN: &str = "r1bqk2r/ppp2ppp/2n5/4P3/2Bp2n1/5N1P/PP1N1PP1/R2Q1RK1 b kq -";

    fn scores(evals: &str) -> Result<Vec<(String, i32)>, String> {
        let partial = parse(&format!("{{\"fen\":\"{FEN}\",\"evals\":[{evals}]}}"))?;
        Ok(partial.scores.into_iter().map(|(mv, score)| (uci(mv), score)).collect())
    }

    #[test]
    fn the_deepest_search_counts_from_the_mover_s_side() {
        let shallow =
            r#"{"pvs":[{"cp":1,"line":"g4h6"},{"cp":2,"line":"d4d3"}],"knodes":9,"depth":20}"#;
        let deep =
            r#"{"pvs":[{"cp":-35,"line":"e8h8 d2e4"},{"mate":-3,"line":"d4d3"}],"depth":30}"#;
        let single = r#"{"pvs":[{"cp":7,"line":"g4h6"}],"depth":30}"#;
        let expected = vec![("e8g8".to_owned(), 35), ("d4d3".to_owned(), 10_000)];
        assert_eq!(scores(&format!("{shallow},{deep},{single}")), Ok(expected));
    }

    #[test]
    fn a_line_that_is_no_text_is_left_out() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let sound = format!(
            "{{\"fen\":\"{FEN}\",\"evals\":[{{\"pvs\":[{{\"cp\":7,\"line\":\"g4h6\"}}]}}]}}\n"
        );
        let bytes = [sound.as_bytes(), b"\xff\xfe{\n", sound.as_bytes()].concat();
        std::fs::write(file.path(), bytes).unwrap();
        let mut numbers = Vec::new();
        let skipped = read(file.path(), |_, number| {
            numbers.push(number);
            Ok(())
        });
        assert_eq!((numbers, skipped.unwrap().lines), (vec![1, 3], 1));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = |evals: &str| scores(evals).unwrap_err();
        assert_eq!(wrong(""), "no evaluation");
        assert_eq!(wrong(r#"{"pvs":[],"depth":3}"#), "no evaluation");
        assert_eq!(wrong(r#"{"pvs":[{"cp":3,"line":"e2e4"}]}"#), "the move e2e4 is not legal");
        assert_eq!(wrong(r#"{"pvs":[{"line":"g4h6"}]}"#), "no score for g4h6");
        assert!(parse("{\"fen\":\"8/8\"").is_err());
        let shuffled = "{\"fen\":\"4k1r1/8/8/8/8/8/8/4K3 w k -\",\"evals\":[]}";
        let said = parse(shuffled).unwrap_err();
        assert_eq!(said, "its castling rights are those of Chess960, which is not read");
    }
}
