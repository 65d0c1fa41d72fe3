//! A whole board on a desk: hands, contacts, and the chessboard's own program, without a chip.
use kibitzer_core::chessboard::Chessboard;
use kibitzer_core::recognition::State;
use kibitzer_core::shakmaty::{Position as _, Square};
use rand::{SeedableRng as _, rngs::ChaCha8Rng};

use crate::contacts::Contacts;
use crate::hand::{self, Beat, Style};

/// Milliseconds between two looks at the contacts.
const SCAN_MS: u32 = 10;

/// A board and whoever sits at it.
#[derive(Debug)]
pub struct Desk<'a> {
    /// The board.
    pub board: Chessboard<'a>,
    /// Its contacts.
    pub contacts: Contacts,
    /// Chance.
    pub rng: ChaCha8Rng,
    /// What the board sent to the app.
    pub sent: Vec<u8>,
    /// Whether the board's program runs its thoughts.
    pub thinks: bool,
}

impl<'a> Desk<'a> {
    /// The men stand as the board's game has it.
    pub fn new(board: Chessboard<'a>, seed: u64) -> Self {
        let occupied = board.game().position().board().occupied();
        let (contacts, rng) = (Contacts::new(occupied, SCAN_MS), ChaCha8Rng::seed_from_u64(seed));
        Self { board, contacts, rng, sent: Vec::new(), thinks: true }
    }

    /// Lets the program run for so long.
    pub fn wait(&mut self, ms: u32) {
        let until = self.contacts.now() + ms;
        while self.contacts.now() < until {
            let read = self.contacts.look();
            self.board.frame(self.contacts.now(), read);
            if self.thinks && self.board.wants_to_think() {
                self.board.think(&mut || ());
            }
            while let Some(byte) = self.board.next_byte() {
                self.sent.push(byte);
            }
        }
    }

    /// Does what a hand does.
    pub fn act(&mut self, beats: &[Beat]) {
        for beat in beats {
            self.wait(beat.wait_ms);
            for &square in &beat.touched {
                self.contacts.touch(square, &mut self.rng);
            }
        }
    }

    /// Lifts or puts down men, one after the other.
    pub fn touch(&mut self, squares: &[Square]) {
        let beats = squares.iter().map(|&square| Beat { wait_ms: 120, touched: vec![square] });
        self.act(&beats.collect::<Vec<_>>());
    }

    /// Carries out the move that the board shows, and waits for it to be recognised.
    pub fn carry_out(&mut self, style: Style) {
        if let Some(mv) = self.board.recogniser().told() {
            let position = self.board.game().position().clone();
            let beats = hand::make(&position, mv, style, &mut self.rng);
            self.act(&beats);
            self.wait(350);
        }
    }

    /// Makes a move, answering what is asked.
    pub fn make(&mut self, mv: kibitzer_core::shakmaty::Move, style: Style) {
        let position = self.board.game().position().clone();
        let beats = hand::make(&position, mv, style, &mut self.rng);
        self.act(&beats);
        self.wait(350);
        while let State::Asked(question) = self.board.recogniser().state().clone() {
            let answer = question.answers.iter().find(|answer| answer.mv == mv);
            let answer = answer.or(question.answers.first()).expect("an answer");
            self.touch(&[answer.square, answer.square]);
            self.wait(2_400);
        }
    }
}
