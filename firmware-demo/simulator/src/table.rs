//! A board without its processor: hands, contacts and what recognises the moves.
use kibitzer_core::recognition::{Event, Recogniser, State};
use kibitzer_core::shakmaty::{Bitboard, Square};
use rand::{SeedableRng as _, rngs::ChaCha8Rng};

use crate::contacts::Contacts;
use crate::hand::{Beat, press};

/// An event, and how long after the last touch it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Felt {
    /// What happened.
    pub event: Event,
    /// Milliseconds since a square was last touched.
    pub after_ms: u32,
}

/// Hands, contacts, recognition.
#[derive(Debug)]
pub struct Table {
    /// What recognises the moves.
    pub recogniser: Recogniser,
    /// The contacts.
    pub contacts: Contacts,
    /// Chance.
    pub rng: ChaCha8Rng,
    last_touch: u32,
}

impl Table {
    /// A game's board whose men stand where they belong.
    pub fn new(recogniser: Recogniser, scan_ms: u32, seed: u64) -> Self {
        use kibitzer_core::shakmaty::Position as _;
        let occupied = recogniser.game().position().board().occupied();
        let contacts = Contacts::new(occupied, scan_ms);
        Self { recogniser, contacts, rng: ChaCha8Rng::seed_from_u64(seed), last_touch: 0 }
    }

    /// Looks at the board for so long; what is told meanwhile, but for what contacts felt.
    pub fn wait(&mut self, ms: u32) -> Vec<Felt> {
        let from = self.contacts.now();
        let mut felt = Vec::new();
        while self.contacts.now().wrapping_sub(from) < ms {
            let read = self.contacts.look();
            let now = self.contacts.now();
            self.recogniser.frame(now, read);
            while let Some(event) = self.recogniser.next_event() {
                if !matches!(event, Event::Changed { .. }) {
                    felt.push(Felt { event, after_ms: now.wrapping_sub(self.last_touch) });
                }
            }
        }
        felt
    }

    /// Does what a hand does; what is told until the last touch.
    pub fn act(&mut self, beats: &[Beat]) -> Vec<Felt> {
        let mut felt = Vec::new();
        for beat in beats {
            felt.extend(self.wait(beat.wait_ms));
            for &square in &beat.touched {
                self.touch(square);
            }
        }
        felt
    }

    /// Presses a square of the board.
    pub fn press(&mut self, square: Square) -> Vec<Felt> {
        self.act(&press(square))
    }

    /// Lifts or puts down a man.
    pub fn touch(&mut self, square: Square) {
        self.contacts.touch(square, &mut self.rng);
        self.last_touch = self.contacts.now();
    }

    /// Squares that are wrong, as the board says.
    pub fn wrong(&self) -> Bitboard {
        match *self.recogniser.state() {
            State::Wrong { missing, extra } => missing | extra,
            _ => Bitboard::EMPTY,
        }
    }
}
