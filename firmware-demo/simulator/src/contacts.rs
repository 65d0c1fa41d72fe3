//! The contacts under the squares: what they read while men are lifted and put down.
use kibitzer_core::shakmaty::{Bitboard, Square};
use rand::{RngExt as _, rngs::ChaCha8Rng};

/// Milliseconds for which a contact bounces, at most.
const BOUNCE_MS: u32 = 5;

/// The contacts, and the clock by which they are read.
#[derive(Debug, Clone)]
pub struct Contacts {
    now: u32,
    occupied: Bitboard,
    /// When contacts will flip, as they bounce.
    bounces: Vec<(u32, Square)>,
    /// Milliseconds between two looks.
    pub scan_ms: u32,
    /// Whether they bounce.
    pub bounce: bool,
}

impl Contacts {
    /// Contacts under these men, read every `scan_ms` milliseconds.
    pub const fn new(occupied: Bitboard, scan_ms: u32) -> Self {
        Self { now: 0, occupied, bounces: Vec::new(), scan_ms, bounce: false }
    }

    /// The clock, in milliseconds.
    pub const fn now(&self) -> u32 {
        self.now
    }

    /// Where men stand.
    pub const fn occupied(&self) -> Bitboard {
        self.occupied
    }

    /// A man is lifted from a square or put down on it.
    pub fn touch(&mut self, square: Square, rng: &mut ChaCha8Rng) {
        self.occupied.toggle(square);
        if self.bounce {
            // An even number of flips in between, so that it ends as it must.
            for _ in 0..rng.random_range(0..3) {
                let at = self.now + rng.random_range(1..BOUNCE_MS);
                self.bounces.push((at, square));
                self.bounces.push((at + 1, square));
            }
        }
    }

    /// Waits until the next look, and looks.
    pub fn look(&mut self) -> Bitboard {
        self.now = self.now.wrapping_add(self.scan_ms);
        let now = self.now;
        let mut read = self.occupied;
        for &(at, square) in &self.bounces {
            if at > now {
                read.toggle(square);
            }
        }
        self.bounces.retain(|&(at, _)| at > now);
        read
    }
}
