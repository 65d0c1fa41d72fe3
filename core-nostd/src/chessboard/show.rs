//! Which lamp has which colour.
use shakmaty::{Bitboard, Position as _, Square};

use super::Chessboard;
use crate::{
    coach::destinations,
    game::Outcome,
    lamps::{Colour, Frame},
    legal,
    moves::destination,
    recognition::{Asked, Question, State},
};

/// So many men that are missing are put back one after the other; more are set up in any order.
const ONE_BY_ONE: usize = 8;

impl Chessboard<'_> {
    /// Works out what is to be seen.
    pub(super) fn show(&mut self) {
        let mut frame = Frame::DARK;
        if let Some(lit) = self.remote.as_ref().and_then(|remote| remote.lamps()) {
            // Its squares are the board's already.
            frame.paint(lit, Colour::White);
            (self.lamps, self.signal) = (frame, false);
            return;
        }
        self.paint_state(&mut frame);
        let is_calm = matches!(self.recogniser.state(), State::Ready | State::Moving);
        self.signal = is_calm && !self.settings.is_unaided && self.is_critical();
        self.lamps = Frame::DARK;
        for (square, colour) in frame.iter() {
            self.lamps.set(self.recogniser.on_board(square), colour);
        }
    }

    fn paint_state(&self, frame: &mut Frame) {
        match self.recogniser.state() {
            State::Ready => self.paint_ready(frame),
            State::Moving => self.paint_touched(frame),
            State::Unfinished { lift, place } => {
                let colour =
                    if self.recogniser.told().is_some() { Colour::Blue } else { Colour::White };
                frame.paint(*lift | *place, colour);
                // A capture fills a square that is occupied.
                if let Some(mv) = self.recogniser.told() {
                    frame.set(destination(mv), colour);
                }
            }
            State::Asked(question) => self.paint_question(question, frame),
            State::Wrong { missing, extra } => {
                frame.paint(*extra, Colour::Red);
                let is_one_by_one = missing.count() <= ONE_BY_ONE;
                match missing.first() {
                    Some(first) if is_one_by_one => frame.set(first, Colour::White),
                    _ => frame.paint(*missing, Colour::White),
                }
            }
        }
    }

    fn paint_question(&self, question: &Question, frame: &mut Frame) {
        if self.is_hushed() {
            return self.paint_touched(frame);
        }
        if question.asked == Asked::Replaced {
            self.paint_touched(frame);
            if !self.thoughts.is_question_shown {
                return;
            }
        }
        frame.paint(question.squares(), Colour::Violet);
        if question.asked == Asked::Castling
            && let Some(king) = self.position().board().king_of(self.position().turn())
        {
            frame.set(king, Colour::Violet);
        }
    }

    fn paint_ready(&self, frame: &mut Frame) {
        if let Some(outcome) = self.outcome {
            return self.paint_outcome(outcome, frame);
        }
        if self.settings.is_unaided {
            return;
        }
        if let Some(blunder) = self.thoughts.blunder {
            frame.set(destination(blunder.mv), crate::coach::Grade::of(blunder.loss).colour());
        }
        if let Some(mv) = self.thoughts.hint {
            let from = mv.from().map_or(Bitboard::EMPTY, Bitboard::from);
            frame.paint(from | destination(mv), Colour::Green);
        }
    }

    /// Whether what is asked is not to be seen or said: that a man may take, or castle, is help.
    pub(super) fn is_hushed(&self) -> bool {
        let is_help =
            |question: &Question| matches!(question.asked, Asked::Replaced | Asked::Castling);
        self.settings.is_unaided
            && matches!(self.recogniser.state(), State::Asked(question) if is_help(question))
    }

    /// The kings: the winner's green, the loser's red, both yellow for a draw.
    fn paint_outcome(&self, outcome: Outcome, frame: &mut Frame) {
        let board = self.position().board();
        for color in shakmaty::Color::ALL {
            let colour = match outcome {
                Outcome::Draw => Colour::Yellow,
                Outcome::Win(winner) if winner == color => Colour::Green,
                Outcome::Win(_) => Colour::Red,
            };
            if let Some(king) = board.king_of(color) {
                frame.set(king, colour);
            }
        }
    }

    /// A man in the air: where it came from, and where it may go.
    fn paint_touched(&self, frame: &mut Frame) {
        if self.settings.is_unaided {
            // It may have replaced another unseen: whoever did that presses where it went.
            if let Some(square) = self.in_the_air().filter(|_| self.thoughts.is_question_shown) {
                frame.set(square, Colour::Violet);
            }
            return;
        }
        if self.outcome.is_some() {
            return;
        }
        let Some(square) = self.thoughts.touched() else { return };
        if let Some(graded) = &self.thoughts.graded {
            for (to, grade) in destinations(graded) {
                frame.set(to, grade.colour());
            }
        } else if self.settings.hints > 0 {
            frame.paint(self.legal_squares(square), Colour::White);
        }
        frame.set(square, Colour::White);
    }

    /// Where the man on a square may go.
    fn legal_squares(&self, square: Square) -> Bitboard {
        let mut squares = Bitboard::EMPTY;
        legal::for_each(self.position(), |mv| {
            if mv.from() == Some(square) {
                squares.add(destination(mv));
            }
        });
        squares
    }
}
