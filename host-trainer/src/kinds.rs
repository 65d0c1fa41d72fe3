//! What a file holds, by its first bytes.
use std::{fmt, io::Read as _, path::Path};

use anyhow::Result;

use crate::{epd, pgn, records::RecordFile};

/// Bytes that tell.
const START: u64 = 1 << 12;

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Made by `kibitzer pack`.
    Records,
    /// A labelled library.
    Library,
    /// Evaluations as Lichess publishes them.
    Evaluations,
    /// FEN or EPD, a position a line.
    Positions,
    /// PGN.
    Games,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Records => "training records",
            Kind::Library => "labelled library",
            Kind::Evaluations => "evaluations",
            Kind::Positions => "positions",
            Kind::Games => "games",
        })
    }
}

/// The kind of the file at `path`, plain or compressed; what tells nothing is taken for games.
/// Pipes lose what is looked at: see [`pgn::spool`].
///
/// # Errors
/// [`crate::error::UserError`] if it cannot be read.
pub fn of(path: &Path) -> Result<Kind> {
    if RecordFile::recognises(path) {
        return Ok(Kind::Records);
    }
    let mut start = Vec::new();
    // What cannot be decompressed tells nothing; who reads it in earnest says so.
    let _ = pgn::open(path)?.take(START).read_to_end(&mut start);
    Ok(of_text(&String::from_utf8_lossy(&start)))
}

fn of_text(start: &str) -> Kind {
    let lines = start.lines().map(str::trim).filter(|line| !line.is_empty());
    let plain = |line: &str| line.trim_start_matches('\u{feff}').to_owned();
    let first =
        lines.map(plain).find(|line| !line.starts_with(['#', '%', ';'])).unwrap_or_default();
    let first = first.as_str();
    if is_json(first) {
        // A library's keys come in any order, but no other has these.
        let is_library = first.contains("\"all\"") || first.contains("\"opening\"");
        return if is_library { Kind::Library } else { Kind::Evaluations };
    }
    let board = first.split_whitespace().next().unwrap_or_default();
    if board.matches('/').count() == 7 || epd::parse(first).is_ok_and(|epd| epd.is_some()) {
        return Kind::Positions;
    }
    Kind::Games
}

/// Whether a line starts as an object with a key; a comment in a game starts with a brace, too.
fn is_json(line: &str) -> bool {
    let key = line.strip_prefix('{').and_then(|rest| rest.trim_start().strip_prefix('"'));
    let value = key.and_then(|key| key.split_once('"'));
    value.is_some_and(|(_, rest)| rest.trim_start().starts_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_tells() {
        for (text, kind) in [
            ("[Event \"x\"]\n\n1. e4 1-0", Kind::Games),
            ("1. e4 e5 1-0", Kind::Games),
            ("", Kind::Games),
            ("{A file of games.}\n\n[Event \"x\"]\n\n1. e4 1-0", Kind::Games),
            ("{\"Quoted\", he said}\n\n1. e4 1-0", Kind::Games),
            ("; remark\n1. e4 1-0", Kind::Games),
            ("\u{feff}# header\nstartpos", Kind::Positions),
            ("# header\n\n8/8/8/8/8/8/8/K1k5 w - - 0 1", Kind::Positions),
            ("startpos", Kind::Positions),
            ("8/8/8/8/8/8/8/8 w - -; nobody there", Kind::Positions),
            ("{\"opening\": \"x\", \"fen\": \"\"}", Kind::Library),
            ("{\"fen\":\"8/8\",\"evals\":[{\"pvs\":[", Kind::Evaluations),
        ] {
            assert_eq!(of_text(text), kind, "{text}");
        }
    }
}
