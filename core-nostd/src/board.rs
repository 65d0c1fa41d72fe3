//! A chessboard's answer to one position, as lines of text: the same on the board and the host.
//!
//! A line holds a FEN, and may go on with ` last ` and the opponent's last move in UCI, of which some
//! terms speak. The answer: `position` with the line, a `candidate` line for each candidate (the choice
//! first), a `choice` line, a `why` line with the reasons in words (not without a legal move), a
//! `critical` line, a `partial` line where the analysis reached its limit of positions, and with a
//! network a `net` line. For a line that is no legal position: an
//! `error` line. Scores are in points, a pawn being 100.
use core::fmt::{self, Write};

use shakmaty::{CastlingMode, Chess, Move, Position as _, uci::UciMove};

use crate::{
    net::{Evaluation, Model},
    position::parse_fen,
    viveka::{self, Analysis, Before, Candidate, Glance, LastMove, Warning, Weights},
};

/// Bytes of the longest line that is read; a FEN has at most 92, and a last move takes 11.
pub const MAX_LINE: usize = 128;

/// Terms that speak for or against the choice and are told in words.
const REASONS: usize = 4;
/// What stands between a FEN and the opponent's last move.
const LAST: &[u8] = b" last ";
/// Moves of the network that are told.
const NET_MOVES: usize = 3;

/// What answers: the weights, and a network with its scratch buffer.
#[derive(Debug)]
pub struct Board<'a> {
    /// Viveka's weights.
    pub weights: &'a Weights,
    /// The network, and scratch of at least
    /// [`scratch_bytes`](crate::net::scratch_bytes) for it.
    pub net: Option<(&'a Model<'a>, &'a mut [u8])>,
}

/// What is told of an analysis besides its candidates.
struct Told {
    critical: bool,
    entropy: i32,
    partial: bool,
    searched: u32,
}

/// A stage of an answer, in the order in which they end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Stage {
    /// The position is read.
    Read,
    /// A stage of Viveka's analysis.
    Viveka(viveka::Stage),
    /// Viveka's lines are written, explanations worked out.
    Tell,
    /// The network is evaluated and its line written; left out without a network.
    Net,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Read => "read",
            Stage::Viveka(viveka::Stage::Scan) => "scan",
            Stage::Viveka(viveka::Stage::Score) => "score",
            Stage::Viveka(viveka::Stage::Check) => "check",
            Stage::Viveka(viveka::Stage::DoubleCheck) => "double-check",
            Stage::Viveka(viveka::Stage::Choice) => "choice",
            Stage::Tell => "tell",
            Stage::Net => "net",
        })
    }
}

impl Board<'_> {
    /// Writes the answer to a line that holds a FEN, whatever its bytes.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn answer(&mut self, line: impl AsRef<[u8]>, out: &mut impl Write) -> fmt::Result {
        self.answer_in_stages(line, out, &mut |_| ())
    }

    /// [`Board::answer`] with `done` called at the end of each stage, from a line that is not
    /// refused.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn answer_in_stages(
        &mut self,
        line: impl AsRef<[u8]>,
        out: &mut impl Write,
        done: &mut dyn FnMut(Stage),
    ) -> fmt::Result {
        let line = line.as_ref();
        if line.len() > MAX_LINE {
            return writeln!(out, "error the line is longer than {MAX_LINE} bytes; send one FEN");
        }
        // What is no text is no FEN either, and refused like an empty line.
        let line = core::str::from_utf8(line).unwrap_or_default().trim();
        let Some((fen, last)) = split_last(line) else {
            return writeln!(out, "error the last move is no UCI move; write it as in e7e5");
        };
        match parse_fen(fen) {
            Ok(position) => {
                writeln!(out, "position {line}")?;
                done(Stage::Read);
                self.viveka(&position, last, out, done)?;
                self.net(&position, out, done)
            }
            Err(error) => writeln!(out, "error {error}"),
        }
    }

    fn viveka(
        &self,
        position: &Chess,
        last: Option<LastMove>,
        out: &mut impl Write,
        done: &mut dyn FnMut(Stage),
    ) -> fmt::Result {
        let (best, told) = self.candidates(position, last, out, done)?;
        match best {
            Some(best) => {
                writeln!(out, "choice {}", uci(best.mv))?;
                self.why(position, last, &best, out)?;
            }
            None => writeln!(out, "choice none")?,
        }
        let flag = if told.critical { "yes" } else { "no" };
        writeln!(out, "critical {flag} entropy {}", told.entropy)?;
        if told.partial {
            writeln!(out, "partial {} positions looked at, more left out", told.searched)?;
        }
        done(Stage::Tell);
        Ok(())
    }

    /// Writes the candidates; returns the best, and what is told after it.
    #[inline(never)] // the others must not stay on the caller's stack
    fn candidates(
        &self,
        position: &Chess,
        last: Option<LastMove>,
        out: &mut impl Write,
        done: &mut dyn FnMut(Stage),
    ) -> Result<(Option<Candidate>, Told), fmt::Error> {
        let mut analysis = Analysis::default();
        viveka::analyse_into(&mut analysis, position, last, self.weights, &mut |stage| {
            done(Stage::Viveka(stage));
        });
        for candidate in &analysis.candidates {
            self.candidate(candidate, viveka::phase(position.board()), out)?;
        }
        let Analysis { critical, entropy, partial, searched, .. } = analysis;
        Ok((analysis.candidates.first().cloned(), Told { critical, entropy, partial, searched }))
    }

    fn candidate(&self, c: &Candidate, phase: i32, out: &mut impl Write) -> fmt::Result {
        write!(out, "candidate {} total {} score {}", uci(c.mv), c.total, c.score)?;
        write!(out, " drop {}", c.drop.points)?;
        if let Some(reply) = c.drop.reply {
            write!(out, " after {}", uci(reply))?;
        }
        for (term, points) in viveka::points(&c.values, self.weights, phase) {
            write!(out, " {}={points}", term.name)?;
        }
        writeln!(out)
    }

    /// Writes the reasons for a candidate in words, the weightiest first, and what the check found.
    #[inline(never)] // what the sentences need must not stay on the caller's stack
    fn why(
        &self,
        position: &Chess,
        last: Option<LastMove>,
        c: &Candidate,
        out: &mut impl Write,
    ) -> fmt::Result {
        let before = Before::new(position, last);
        let glance = Glance::to_explain(&before, c.mv);
        write!(out, "why")?;
        let mut mark = "";
        for part in viveka::explain(&glance, &c.values, self.weights).take(REASONS) {
            write!(out, "{mark} {part}")?;
            mark = ";";
        }
        if let Some(warning) = Warning::new(position, c.mv, c.drop) {
            write!(out, "{mark} but {warning}")?;
        }
        writeln!(out)
    }

    fn net(
        &mut self,
        position: &Chess,
        out: &mut impl Write,
        done: &mut dyn FnMut(Stage),
    ) -> fmt::Result {
        let Some((model, scratch)) = &mut self.net else { return Ok(()) };
        let mut evaluation = Evaluation::default();
        if let Err(error) = model.evaluate_into(&mut evaluation, position, scratch) {
            return writeln!(out, "error {error}");
        }
        write!(out, "net value {}", thousandths(evaluation.value(), Evaluation::VALUE_ONE))?;
        for scored in evaluation.moves().iter().take(NET_MOVES) {
            let probability = u64::from(scored.probability) * 1000;
            let probability = probability / u64::from(Evaluation::PROBABILITY_ONE);
            write!(out, " {} {probability}", uci(scored.mv))?;
        }
        writeln!(out)?;
        done(Stage::Net);
        Ok(())
    }
}

/// Writes `digest` and [`Evaluation::digest`] of the position on a line that holds a FEN, as 16
/// hexadecimal digits, or an `error` line: what chips compare whose networks must answer alike.
///
/// # Errors
/// Only those of `out`.
pub fn digest(
    model: &Model<'_>,
    line: &[u8],
    scratch: &mut [u8],
    out: &mut impl Write,
) -> fmt::Result {
    let position = match parse_fen(core::str::from_utf8(line).unwrap_or_default().trim()) {
        Ok(position) => position,
        Err(error) => return writeln!(out, "error {error}"),
    };
    let mut evaluation = Evaluation::default();
    match model.evaluate_into(&mut evaluation, &position, scratch) {
        Ok(()) => writeln!(out, "digest {:016x}", evaluation.digest()),
        Err(error) => writeln!(out, "error {error}"),
    }
}

/// The FEN of a line, and the last move if it gives one; `None` if what it gives is none.
fn split_last(line: &str) -> Option<(&str, Option<LastMove>)> {
    // Not by the library's search, which no compiler knows not to panic.
    let Some(place) = line.as_bytes().windows(LAST.len()).position(|word| word == LAST) else {
        return Some((line, None));
    };
    let uci = line.as_bytes().get(place + LAST.len()..)?;
    let last = LastMove::from_uci(&UciMove::from_ascii(uci).ok()?)?;
    Some((line.get(..place)?, Some(last)))
}

/// A fraction in thousandths, rounded toward zero.
fn thousandths(value: i16, one: i32) -> i32 {
    i32::from(value) * 1000 / one
}

/// The move in UCI notation, castling as the king's two steps.
pub fn uci(mv: Move) -> impl fmt::Display {
    mv.to_uci(CastlingMode::Standard)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    fn answer(line: &[u8]) -> heapless::String<4096> {
        let mut out = heapless::String::new();
        let mut board = Board { weights: &viveka::FITTED, net: None };
        board.answer(line, &mut out).expect("4 KiB are enough");
        out
    }

    #[test]
    fn a_position_is_answered_in_the_order_of_the_format() {
        let out = answer(b"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\r");
        let words: heapless::Vec<&str, 16> =
            out.lines().filter_map(|line| line.split(' ').next()).collect();
        let candidates = words.len() - 4;
        assert!(candidates > 1 && words[1..=candidates].iter().all(|word| *word == "candidate"));
        assert_eq!((words[0], words[candidates + 1]), ("position", "choice"));
        assert_eq!((words[candidates + 2], words[candidates + 3]), ("why", "critical"));
        assert!(!out.contains('\r'), "the line's end is not part of the FEN");
    }

    #[test]
    fn each_broken_line_is_one_error_line() {
        let long = [b'8'; MAX_LINE + 1];
        let lines: [&[u8]; 5] = [b"", b"hello", b"8/8/8/8/8/8/8/8 w - - 0 1", b"\xff\xfe", &long];
        for line in lines {
            let out = answer(line);
            assert!(out.starts_with("error ") && out.ends_with('\n'), "{out}");
            assert_eq!(out.lines().count(), 1, "{out}");
        }
        assert!(answer(&long).contains("longer"));
    }

    #[test]
    fn the_last_move_counts() {
        let fen = "4k3/8/8/3n4/8/8/3R4/4K3 w - - 0 1";
        let take = |line: &str| {
            let out = answer(line.as_bytes());
            let line = out.lines().find(|line| line.starts_with("candidate d2d5 "));
            line.is_some_and(|line| line.contains(" recapture="))
        };
        assert!(!take(fen));
        assert!(take(&std::format!("{fen} last c7d5")));
        assert!(!take(&std::format!("{fen} last f7e8")));
        assert!(answer(std::format!("{fen} last x").as_bytes()).starts_with("error "));
    }

    #[test]
    fn a_finished_game_has_no_choice() {
        assert!(answer(b"7k/5Q2/6K1/8/8/8/8/8 b - - 0 1").contains("choice none"));
    }
}
