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
    /// A contact that is broken: it reads the other way every other stretch of so many
    /// milliseconds.
    pub chatter: Option<(Square, u32)>,
}

impl Contacts {
    /// Contacts under these men, read every `scan_ms` milliseconds.
    pub const fn new(occupied: Bitboard, scan_ms: u32) -> Self {
        Self { now: 0, occupied, bounces: Vec::new(), scan_ms, bounce: false, chatter: None }
    }

    /// The same with a clock that stands at `now`.
    pub fn at(self, now: u32) -> Self {
        Self { now, ..self }
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
                let at = self.now.wrapping_add(rng.random_range(1..BOUNCE_MS));
                self.bounces.push((at, square));
                self.bounces.push((at.wrapping_add(1), square));
            }
        }
    }

    /// Waits until the next look, and looks.
    pub fn look(&mut self) -> Bitboard {
        self.now = self.now.wrapping_add(self.scan_ms);
        let now = self.now;
        let mut read = self.occupied;
        self.bounces.retain(|&(at, _)| is_before(now, at));
        for &(_, square) in &self.bounces {
            read.toggle(square);
        }
        if let Some((square, stretch)) = self.chatter
            && now / stretch % 2 == 1
        {
            read.toggle(square);
        }
        read
    }
}

/// Whether a time comes before another, by a clock that may have begun anew in between.
fn is_before(time: u32, other: u32) -> bool {
    other.wrapping_sub(time).cast_signed() > 0
}
