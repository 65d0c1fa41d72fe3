//! What happens, in words: for a display of a few lines, or a terminal.
use core::fmt::{self, Write as _};

use shakmaty::{Color, Move, Position as _, Square};

use super::{Chessboard, Player};
use crate::{
    game::{Ending, Outcome},
    recognition::{Asked, Event, State},
    viveka::{notation, role_name},
};

impl Chessboard<'_> {
    /// Says what happened.
    pub(super) fn word(&mut self, event: Event) {
        let is_hushed = matches!(event, Event::Asked) && self.is_hushed();
        if is_hushed || matches!(event, Event::Changed { .. }) {
            return;
        }
        let mut message = core::mem::take(&mut self.message);
        message.clear();
        // What does not fit is left out.
        let _ = self.write_event(event, &mut message);
        self.message = message;
    }

    fn write_event(&self, event: Event, out: &mut impl fmt::Write) -> fmt::Result {
        match event {
            Event::Moved(mv) | Event::Executed(mv) => {
                write!(out, "{}", notation(self.game().previous(), mv))
            }
            Event::TakenBack(1) => out.write_str("one move taken back"),
            Event::TakenBack(plies) => write!(out, "{plies} moves taken back"),
            Event::Asked => self.write_question(out),
            Event::Wrong => self.write_wrong(out),
            Event::Agrees => {
                let turn = if self.position().turn().is_white() { "White" } else { "Black" };
                write!(out, "the board is set up: {turn} to move")
            }
            Event::NewGame => out.write_str("a new game"),
            Event::Turned => out.write_str("White plays from the other side"),
            Event::Result(Outcome::Draw) if self.is_online() => out.write_str("a draw is offered"),
            Event::Result(_) if self.is_online() => out.write_str("the game is given up"),
            Event::Result(outcome) => write!(out, "the game is over: {}", outcome.as_str()),
            Event::Ended(ending) => write!(
                out,
                "{}: {}",
                match ending {
                    Ending::Checkmate => "checkmate",
                    Ending::Stalemate => "stalemate",
                    Ending::InsufficientMaterial => "nobody can mate",
                    Ending::FivefoldRepetition => "the fifth repetition",
                    Ending::SeventyFiveMoves => "75 moves without a capture or a pawn's move",
                },
                self.outcome.map_or("", Outcome::as_str)
            ),
            Event::Changed { .. } => Ok(()),
        }
    }

    fn write_question(&self, out: &mut impl fmt::Write) -> fmt::Result {
        let State::Asked(question) = self.recogniser.state() else { return Ok(()) };
        match question.asked {
            Asked::Promotion => {
                out.write_str("what becomes of the pawn? press")?;
                for answer in &question.answers {
                    let role = answer.mv.promotion().map_or("", role_name);
                    write!(out, " {} {role}", self.recogniser.on_board(answer.square))?;
                }
                Ok(())
            }
            Asked::Replaced => out.write_str("if a man was taken, press where"),
            Asked::Capture => {
                out.write_str("which man was taken? press")?;
                for answer in &question.answers {
                    write!(out, " {}", self.recogniser.on_board(answer.square))?;
                }
                Ok(())
            }
            Asked::Castling => out.write_str("to castle, move the king"),
        }
    }

    fn write_wrong(&self, out: &mut impl fmt::Write) -> fmt::Result {
        let State::Wrong { missing, extra } = self.recogniser.state() else { return Ok(()) };
        match (extra.first(), missing.first()) {
            (_, Some(square)) if extra.is_empty() => {
                out.write_str("put ")?;
                self.write_man(square, out)?;
                write!(out, " on {}", self.recogniser.on_board(square))?;
            }
            (Some(square), _) => {
                write!(out, "take away what stands on {}", self.recogniser.on_board(square))?;
            }
            _ => {}
        }
        let rest = (missing.count() + extra.count()).saturating_sub(1);
        if rest > 0 {
            write!(out, ", and {rest} more")?;
        }
        Ok(())
    }

    /// "the white knight".
    fn write_man(&self, square: Square, out: &mut impl fmt::Write) -> fmt::Result {
        match self.position().board().piece_at(square) {
            Some(piece) => {
                let color = if piece.color == Color::White { "white" } else { "black" };
                write!(out, "the {color} {}", role_name(piece.role))
            }
            None => out.write_str("a man"),
        }
    }

    /// Says what Viveka plays.
    pub(super) fn word_told(&mut self, mv: Move) {
        let is_warning = self.thoughts.blunder.is_some() && !self.message.is_empty();
        let mut message = core::mem::take(&mut self.message);
        if is_warning {
            let _ = message.push_str(". ");
        } else {
            message.clear();
        }
        let _ = write!(message, "Viveka plays {}", notation(self.position(), mv));
        self.message = message;
    }

    /// Says the best move.
    pub(super) fn word_hint(&mut self) {
        let Some(mv) = self.thoughts.hint else { return };
        let mut message = core::mem::take(&mut self.message);
        message.clear();
        let _ = write!(message, "best is {}", notation(self.position(), mv));
        self.message = message;
    }

    /// Says who plays, and how strong.
    pub(super) fn word_settings(&mut self) {
        let settings = self.settings;
        self.message.clear();
        for (name, color) in [("White: ", Color::White), (", Black: ", Color::Black)] {
            let _ = self.message.push_str(name);
            let _ = match settings.players.get(color) {
                Player::Hand => write!(self.message, "you"),
                Player::Viveka => {
                    write!(self.message, "Viveka, level {}", settings.level_against(color).number())
                }
            };
        }
    }
}
