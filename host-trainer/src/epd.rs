//! Positions in EPD and FEN, a line each, as they are found in the wild: with or without clocks,
//! with stray semicolons, moves in SAN or UCI, words where operations should be.
use std::{
    io::{BufRead as _, BufReader},
    path::Path,
};

use anyhow::Result;
use kibitzer_core::{
    position::parse_fen,
    shakmaty::{Chess, Move},
};

use crate::{
    chess960::{self, Sign},
    error::UserError,
    pgn, spelling,
};

/// A position with what is said of it.
#[derive(Debug, Clone, Default)]
pub struct Epd {
    /// The position.
    pub position: Chess,
    /// Its name; empty if it has none.
    pub id: String,
    /// The best moves.
    pub best: Vec<Move>,
    /// The moves to avoid.
    pub avoid: Vec<Move>,
    /// Moves with points.
    pub points: Vec<(Move, u32)>,
}

/// Why a line holds no position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The position is not legal.
    #[error("{0}")]
    Position(String),
    /// The castling rights are those of Chess960.
    #[error("its castling rights are those of Chess960, which is not read")]
    Shuffled,
    /// A move with points may be several.
    #[error("the move {mv} of {operation} may be several")]
    Unclear {
        /// The operation.
        operation: String,
        /// The move.
        mv: String,
    },
    /// A move of an operation cannot be played.
    #[error("the move {mv} of {operation} is not legal")]
    Move {
        /// The operation.
        operation: String,
        /// The move.
        mv: String,
    },
}

/// Reads a line; `None` if it is empty or a comment.
///
/// # Errors
/// [`Fault`] if the position or a move of `bm`, `am`, `c0` or `c9` is not legal.
pub fn parse(line: &str) -> Result<Option<Epd>, Fault> {
    let outside = |c: char| c.is_whitespace() || c.is_control() || c == '\u{feff}';
    let line = line.trim_matches(outside);
    if line.is_empty() || line.starts_with(['#', '%']) {
        return Ok(None);
    }
    let (fen, rest) = split(line);
    let position = if fen == "startpos" { Ok(Chess::default()) } else { parse_fen(&fen) };
    let position = position.map_err(|error| Fault::Position(error.to_string()))?;
    if chess960::sign(&fen, &position) == Some(Sign::Sure) {
        return Err(Fault::Shuffled);
    }
    let mut epd = Epd { position, ..Epd::default() };
    let (mut names, mut points) = (String::new(), String::new());
    for (operation, operand) in operations(rest) {
        match operation {
            "bm" => epd.best = moves(&epd.position, operation, operand)?,
            "am" => epd.avoid = moves(&epd.position, operation, operand)?,
            "id" => epd.id = operand.to_owned(),
            "c0" if is_scored(operand) => {
                for entry in operand.split(',') {
                    let (mv, score) = entry.split_once('=').unwrap_or((entry, ""));
                    let mv = one(&epd.position, operation, mv.trim())?;
                    // `is_scored` has seen that it is a number.
                    epd.points.push((mv, score.trim().parse().unwrap_or(0)));
                }
            }
            "c8" => points = operand.to_owned(),
            "c9" => names = operand.to_owned(),
            _ => {}
        }
    }
    let points: Vec<u32> = points.split_whitespace().map_while(|p| p.parse().ok()).collect();
    if epd.points.is_empty() && !points.is_empty() {
        let names = spaced(&names);
        let named = words(&names).map(|word| one(&epd.position, "c9", word));
        let named: Vec<Move> = named.collect::<Result<_, _>>()?;
        epd.points = named.into_iter().zip(points).collect();
    }
    Ok(Some(epd))
}

/// The FEN at the start of a line, with clocks, and the rest.
fn split(line: &str) -> (String, &str) {
    let mut rest = line;
    let mut fields: Vec<&str> = Vec::new();
    while fields.len() < 6 {
        let trimmed = rest.trim_start();
        let end = trimmed.find([' ', '\t', ';']).unwrap_or(trimmed.len());
        let field = &trimmed[..end];
        // Clocks are numbers; what stands in their place otherwise is an operation.
        if field.is_empty() || fields.len() > 3 && field.parse::<u32>().is_err() {
            break;
        }
        // A clock may stick to the en passant field: `w - -0 1`.
        let end = if fields.len() == 3 && field.starts_with('-') { 1 } else { end };
        fields.push(&trimmed[..end]);
        rest = &trimmed[end..];
    }
    let mut fen = fields.join(" ");
    if fields.len() == 4 {
        fen += " 0 1";
    } else if fields.len() == 5 {
        fen += " 1";
    }
    (fen, rest)
}

/// Operations with their operands; of quoted ones what is between the quotes.
fn operations(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut quoted = false;
    let ends = move |c: char| {
        quoted ^= c == '"';
        c == ';' && !quoted
    };
    text.split(ends).filter_map(|operation| {
        let (name, operand) = operation.trim().split_once(char::is_whitespace)?;
        Some((name, operand.trim().trim_matches('"').trim()))
    })
}

/// Whether an operand is a list of moves with numbers, as in `f5=100, Bf2=46`.
fn is_scored(operand: &str) -> bool {
    let number = |entry: &str| {
        entry.rsplit_once('=').is_some_and(|(_, score)| score.trim().parse::<u32>().is_ok())
    };
    operand.split(',').all(number)
}

/// The moves that an operand names; one that is not clear stands for all that it may be.
fn moves(position: &Chess, operation: &str, operand: &str) -> Result<Vec<Move>, Fault> {
    let mut moves = Vec::new();
    for word in words(&spaced(operand)) {
        for mv in may_be(position, operation, word)? {
            if !moves.contains(&mv) {
                moves.push(mv);
            }
        }
    }
    Ok(moves)
}

/// A promotion with spaces, as in `a8 = Q`, without them.
fn spaced(operand: &str) -> String {
    operand.replace(" =", "=").replace("= ", "=")
}

/// An operand's words; a sign for check may stand alone.
fn words(operand: &str) -> impl Iterator<Item = &str> {
    let words = operand.split([' ', '\t', ',']).map(|word| word.trim_end_matches(['!', '?']));
    words.filter(|word| !word.is_empty() && *word != "+" && *word != "#")
}

/// A move that must be clear.
fn one(position: &Chess, operation: &str, word: &str) -> Result<Move, Fault> {
    match may_be(position, operation, word)?[..] {
        [mv] => Ok(mv),
        _ => Err(Fault::Unclear { operation: operation.into(), mv: word.into() }),
    }
}

/// The moves that a word may name, at least one. The sign for a capture does not matter where the
/// move is clear without it, nor where it stands (`Bcx3`).
fn may_be(position: &Chess, operation: &str, word: &str) -> Result<Vec<Move>, Fault> {
    let plain = word.replace(['x', ':'], "");
    let found = match spelling::find(position, word.as_bytes()) {
        Ok(mv) => Ok(vec![mv]),
        Err(_) => spelling::all(position, plain.as_bytes()),
    };
    found.map_err(|_| Fault::Move { operation: operation.into(), mv: word.into() })
}

/// Reasons kept for [`Skipped::reasons`].
const REASONS: usize = 3;

/// What became of a file's lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Lines left out.
    pub lines: u64,
    /// Why, for the first three: file, line, reason.
    pub reasons: Vec<String>,
}

impl Skipped {
    /// Says so on standard error.
    pub fn report(&self) {
        for reason in &self.reasons {
            tracing::warn!("skipped {reason}");
        }
        if self.lines > self.reasons.len() as u64 {
            tracing::warn!("skipped {} lines in all", self.lines);
        }
    }

    /// Adds the lines left out elsewhere.
    pub fn join(&mut self, other: Skipped) {
        self.lines += other.lines;
        self.reasons.extend(other.reasons);
        self.reasons.truncate(REASONS);
    }

    /// Counts a line that is left out.
    pub fn add(&mut self, path: &Path, number: usize, why: impl std::fmt::Display) {
        self.lines += 1;
        if self.reasons.len() < REASONS {
            self.reasons.push(format!("{} line {number}: {why}", path.display()));
        }
    }
}

/// Hands each position of a file, with its line, to `take`; lines without one are left out.
///
/// # Errors
/// [`UserError`] if the file cannot be read; `take`'s own.
pub fn read(path: &Path, mut take: impl FnMut(usize, Epd) -> Result<()>) -> Result<Skipped> {
    let mut skipped = Skipped::default();
    for (number, line) in (1..).zip(BufReader::new(pgn::open(path)?).split(b'\n')) {
        let line = line.map_err(|error| UserError::cannot_read(path, &error))?;
        match parse(&String::from_utf8_lossy(&line)) {
            Ok(Some(epd)) => take(number, epd)?,
            Ok(None) => {}
            Err(fault) => skipped.add(path, number, fault),
        }
    }
    Ok(skipped)
}

#[cfg(test)]
mod tests {
    use kibitzer_core::shakmaty::Position as _;

    use super::*;
    use crate::network::uci;

    const FEN: &str = "r1bqk2r/ppp2ppp/2n5/4P3/2Bp2n1/5N1P/PP1N1PP1/R2Q1RK1 b kq -";

    fn names(moves: &[Move]) -> Vec<String> {
        moves.iter().map(|&mv| uci(mv)).collect()
    }

    fn read(operations: &str) -> Epd {
        parse(&format!("{FEN} {operations}")).unwrap().unwrap()
    }

    #[test]
    fn clocks_semicolons_signs_and_spellings_vary() {
        for text in [
            "bm Nh6; am Ne5; id \"K.03; x\";",
            "1 10 ; bm Nh6 ; am Ne5 ; id \"K.03; x\"",
            "0 bm g4h6!; am g4xe5 + ; id \"K.03; x\"",
            "; bm Nh6+; am Ngxe5; id \"K.03; x\"; should be OK (but see; this)",
            "; am Nge5 ; bm Nh6 ; id \"K.03; x\" ; ce 30",
        ] {
            let text = text.replace("am Ne5", "am Ngxe5").replace("g4xe5", "g4e5");
            let epd = read(&text);
            assert_eq!(names(&epd.best), ["g4h6"], "{text}");
            assert_eq!(names(&epd.avoid), ["g4e5"], "{text}");
            assert_eq!(epd.id, "K.03; x");
        }
        let promoted = parse("8/P6k/8/8/8/8/8/K7 w - - ; bm a8 = Q + a8 = R;").unwrap().unwrap();
        assert_eq!(names(&promoted.best), ["a7a8q", "a7a8r"]);
        let glued = parse(&format!("{FEN}2 44 bm Nh6; epd should be OK")).unwrap().unwrap();
        assert_eq!((glued.position.halfmoves(), names(&glued.best)), (2, vec!["g4h6".to_owned()]));
        let epd = parse("startpos\0\r").unwrap().unwrap();
        assert_eq!(epd.position, Chess::default());
        assert!(parse("  ").unwrap().is_none() && parse("# none").unwrap().is_none());
    }

    #[test]
    fn a_move_that_is_not_clear_stands_for_all_that_it_may_be() {
        assert_eq!(names(&read("bm Nfx2 +;").best), ["g4f2"]);
        let epd = read("bm Nh6; am Ne5;");
        assert_eq!(names(&epd.avoid), ["g4e5", "c6e5"]);
        let unclear = parse(&format!("{FEN} c0 \"Ne5=100\";")).unwrap_err();
        assert_eq!(unclear.to_string(), "the move Ne5 of c0 may be several");
    }

    #[test]
    fn positions_of_chess960_are_refused_and_rights_that_are_wrong_dropped() {
        let shuffled = parse("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9");
        assert_eq!(shuffled.unwrap_err(), Fault::Shuffled);
        let moved = "2r1k2r/2pn1pp1/1p3n1p/p3PP2/4q2B/P1P5/2Q1N1PP/R4RK1 w q - 0 1 bm e5f6";
        assert_eq!(names(&parse(moved).unwrap().unwrap().best), ["e5f6"]);
    }

    #[test]
    fn points_are_read_from_either_form() {
        let scored = [("g4h6".to_owned(), 100), ("d4d3".to_owned(), 7)];
        for text in [
            "c0 \"Nh6=100, d3=7\";",
            "c7 \"Nh6 d3\"; c8 \"100 7\"; c9 \"g4h6 d4d3\";",
            "c0 \"a comment = here\"; c8 \"100 7\"; c9 \"g4h6 d4d3\";",
        ] {
            let points = read(text).points.into_iter();
            assert!(points.map(|(mv, points)| (uci(mv), points)).eq(scored.clone()), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let fault = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(fault(&format!("{FEN} bm Qd1")), "the move Qd1 of bm is not legal");
        assert!(fault("8/8/8/8/8/8/8/4K3 w - - bm Ke2").starts_with("Black has no king"));
        assert!(fault("some words").starts_with("the board field is broken"));
    }

    /// Characters are changed, left out and put in at random: a line is read or refused.
    #[test]
    fn damaged_lines_are_read_or_refused() {
        use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
        let line = format!(
            "{FEN} 1 10 bm Nh6 Nxf2; am d3; id \"K.03; é\"; c0 \"Nh6=100, d3=7\"; c8 \"1 2\"; c9 \"g4h6\";"
        );
        let characters: Vec<char> = line.chars().collect();
        let mut random = ChaCha8Rng::seed_from_u64(8);
        let mut read = 0;
        for _ in 0..5000 {
            let mut text = characters.clone();
            for _ in 0..random.random_range(1..4) {
                let at = random.random_range(0..text.len());
                match random.random_range(0..3) {
                    0 => text[at] = random.random_range(' '..'ÿ'),
                    1 => drop(text.remove(at)),
                    _ => text.insert(at, random.random_range('\0'..'0')),
                }
            }
            read += usize::from(parse(&text.iter().collect::<String>()).is_ok());
        }
        assert!((500..4500).contains(&read), "{read}");
    }
}
