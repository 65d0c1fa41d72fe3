//! Contacts bounce: a square has changed once it stays changed.
use shakmaty::{Bitboard, Square};

use crate::{per_square::PerSquare, placement::squares};

/// Milliseconds for which a square must read alike to be believed. Reed contacts bounce for one
/// to five; a hand takes a hundred from square to square.
pub const DEBOUNCE_MS: u32 = 12;
/// Milliseconds for which a square that reads alike is at rest.
const REST_MS: u32 = 400;
/// Times that a square reads differently without a rest in between, from which on its contact is
/// taken to be broken: more than hands and bounces bring about.
const CHATTER: u8 = 40;

/// The board's 64 contacts.
#[derive(Debug, Clone)]
pub(super) struct Sensors {
    /// As last read.
    read: Bitboard,
    /// As believed.
    occupied: Bitboard,
    /// When each square last read differently.
    since: PerSquare<u32>,
    /// How often it did since it was last at rest.
    flips: PerSquare<u8>,
    /// As read when each was last at rest.
    rested: Bitboard,
    /// When the last believed change took place, or the first look.
    changed: Option<u32>,
}

/// What a frame has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Changes {
    pub lifted: Bitboard,
    pub placed: Bitboard,
}

impl Sensors {
    pub(super) fn new() -> Self {
        Self {
            read: Bitboard::EMPTY,
            occupied: Bitboard::EMPTY,
            since: PerSquare::from_fn(|_| 0),
            flips: PerSquare::from_fn(|_| 0),
            rested: Bitboard::EMPTY,
            changed: None,
        }
    }

    /// As last read, contacts bouncing or not.
    pub(super) const fn read(&self) -> Bitboard {
        self.read
    }

    /// The same seen from the other side of the board.
    pub(super) fn turned(&self) -> Self {
        Self {
            read: self.read.rotate_180(),
            occupied: self.occupied.rotate_180(),
            since: PerSquare::from_fn(|square| *self.since.get(square.rotate_180())),
            flips: PerSquare::from_fn(|square| *self.flips.get(square.rotate_180())),
            rested: self.rested.rotate_180(),
            changed: self.changed,
        }
    }

    /// Milliseconds since the last believed change.
    pub(super) fn quiet_for(&self, now: u32) -> u32 {
        self.changed.map_or(0, |changed| now.wrapping_sub(changed))
    }

    /// Takes in what the contacts read now.
    pub(super) fn frame(&mut self, now: u32, read: Bitboard) -> Changes {
        self.changed.get_or_insert(now);
        for square in squares(self.read ^ read) {
            self.flip(now, square);
        }
        self.read = read;
        let mut changed = Bitboard::EMPTY;
        for square in squares(read ^ self.occupied) {
            let since = *self.since.get(square);
            if now.wrapping_sub(since) >= self.patience(square) {
                // Of several, the one that came last.
                if changed.is_empty() || self.quiet_for(since) <= u32::MAX / 2 {
                    self.changed = Some(since);
                }
                changed.add(square);
            }
        }
        // A broken contact counts as it was before it broke.
        let broken = squares(self.occupied ^ self.rested).filter(|&square| self.is_broken(square));
        changed = broken.fold(changed, |all, square| all.with(square));
        let lifted = self.occupied & changed;
        self.occupied ^= changed;
        Changes { lifted, placed: changed ^ lifted }
    }

    /// A square reads differently from now on.
    fn flip(&mut self, now: u32, square: Square) {
        let is_rested = now.wrapping_sub(*self.since.get(square)) >= REST_MS;
        let flips = self.flips.get_mut(square);
        *flips = if is_rested { 0 } else { flips.saturating_add(1) };
        if is_rested {
            self.rested.set(square, self.read.contains(square));
        }
        *self.since.get_mut(square) = now;
    }

    fn is_broken(&self, square: Square) -> bool {
        *self.flips.get(square) >= CHATTER
    }

    /// Milliseconds for which a square must read alike.
    fn patience(&self, square: Square) -> u32 {
        if self.is_broken(square) { REST_MS } else { DEBOUNCE_MS }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounce_is_one_change() {
        let mut sensors = Sensors::new();
        let e4 = Bitboard::from_square(Square::E4);
        let none = Changes { lifted: Bitboard::EMPTY, placed: Bitboard::EMPTY };
        for (now, read) in [(0, e4), (2, Bitboard::EMPTY), (3, e4), (14, e4)] {
            assert_eq!(sensors.frame(now, read), none, "at {now}");
        }
        assert_eq!(sensors.frame(15, e4), Changes { placed: e4, ..none });
        assert_eq!(sensors.quiet_for(20), 17, "it changed when it last bounced");
        assert_eq!(sensors.frame(30, e4), none);
        assert_eq!(sensors.frame(40, Bitboard::EMPTY), none);
        assert_eq!(sensors.frame(60, Bitboard::EMPTY), Changes { lifted: e4, ..none });
    }

    #[test]
    fn the_clock_may_begin_anew() {
        let mut sensors = Sensors::new();
        let e4 = Bitboard::from_square(Square::E4);
        sensors.frame(u32::MAX - 5, e4);
        assert_eq!(sensors.frame(6, e4).placed, e4);
        assert_eq!(sensors.quiet_for(6), 12);
    }
}
