//! A chessboard's answer to one position, as lines of text: the same on the board and the host.
//!
//! For a FEN line: `position` with the FEN, a `candidate` line for each candidate (the choice
//! first), a `choice` line, a `critical` line, and with a network a `net` line. For a line that
//! is no legal position: an `error` line. Scores are in points, a pawn being 100.
use core::fmt::{self, Write};

use shakmaty::{CastlingMode, Chess, Move};

use crate::{
    net::{Evaluation, Model},
    position::parse_fen,
    viveka::{self, Candidate, Weights},
};

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

impl Board<'_> {
    /// Writes the answer to a line that holds a FEN.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn answer(&mut self, line: &str, out: &mut impl Write) -> fmt::Result {
        match parse_fen(line) {
            Ok(position) => {
                writeln!(out, "position {}", line.trim())?;
                self.viveka(&position, out)?;
                self.net(&position, out)
            }
            Err(error) => writeln!(out, "error {error}"),
        }
    }

    fn viveka(&self, position: &Chess, out: &mut impl Write) -> fmt::Result {
        let analysis = viveka::analyse(position, None, self.weights);
        for candidate in &analysis.candidates {
            self.candidate(candidate, out)?;
        }
        match analysis.candidates.first() {
            Some(best) => writeln!(out, "choice {}", uci(best.mv))?,
            None => writeln!(out, "choice none")?,
        }
        let flag = if analysis.critical { "yes" } else { "no" };
        writeln!(out, "critical {flag} entropy {}", analysis.entropy)
    }

    fn candidate(&self, c: &Candidate, out: &mut impl Write) -> fmt::Result {
        write!(out, "candidate {} total {} score {}", uci(c.mv), c.total, c.score)?;
        write!(out, " drop {}", c.drop.points)?;
        if let Some(reply) = c.drop.reply {
            write!(out, " after {}", uci(reply))?;
        }
        for part in viveka::explain(c, self.weights) {
            write!(out, " {}={}", part.term.name, part.points)?;
        }
        writeln!(out)
    }

    fn net(&mut self, position: &Chess, out: &mut impl Write) -> fmt::Result {
        let Some((model, scratch)) = &mut self.net else { return Ok(()) };
        let evaluation = match model.evaluate(position, scratch) {
            Ok(evaluation) => evaluation,
            Err(error) => return writeln!(out, "error {error}"),
        };
        write!(out, "net value {}", thousandths(evaluation.value(), Evaluation::VALUE_ONE))?;
        for scored in evaluation.moves().iter().take(NET_MOVES) {
            let probability = u64::from(scored.probability) * 1000;
            let probability = probability / u64::from(Evaluation::PROBABILITY_ONE);
            write!(out, " {} {probability}", uci(scored.mv))?;
        }
        writeln!(out)
    }
}

/// A fraction in thousandths, rounded toward zero.
fn thousandths(value: i16, one: i32) -> i32 {
    i32::from(value) * 1000 / one
}

/// The move in UCI notation, castling as the king's two steps.
pub fn uci(mv: Move) -> impl fmt::Display {
    mv.to_uci(CastlingMode::Standard)
}
