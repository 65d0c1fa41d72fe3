//! What hands may have done: which man can stand where, from lifts and places alone.
//!
//! A contact says that a square is occupied, not by whom. But a man that is put down was lifted
//! before, and where one alone is in the air it is that one. For each square there is therefore a
//! set of squares from which its man may have come.
use shakmaty::{Bitboard, Square};

use crate::{per_square::PerSquare, placement::squares};

/// Where a man of a position to be explained comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// From this square of the position before.
    Square(Square),
    /// From beside the board: put back, or promoted to.
    Box,
}

/// The men's possible ways since the board last was as the game has it.
#[derive(Debug, Clone)]
pub(super) struct Hands {
    occupied: Bitboard,
    /// The squares whose men may be in the air.
    held: Bitboard,
    /// Men that were alone in the air when one was put down: unless it came from beside the board,
    /// and they are still in the air.
    put_down: Bitboard,
    /// Squares that were touched before the board last was as the game has it: a man may have been
    /// replaced there, and still be in the air.
    adjusted: Bitboard,
    /// From where the man on each occupied square may have come.
    origins: PerSquare<Bitboard>,
    /// Squares on which anything happened.
    touched: Bitboard,
    /// When something last happened on a square, counted in frames that changed something.
    when: PerSquare<u16>,
    /// Such frames so far.
    frames: u16,
    /// Squares that were left at the same moment as another: by a knock, or by two hands.
    together: Bitboard,
    /// The squares that were left last, and when.
    left: (Bitboard, u32),
}

/// Milliseconds within which one hand does not lift two men.
const TOGETHER_MS: u32 = 30;

impl Hands {
    /// Everything stands where it belongs.
    pub(super) fn at_home(occupied: Bitboard) -> Self {
        let origins = PerSquare::from_fn(|square| Bitboard::from_square(square) & occupied);
        Self {
            occupied,
            held: Bitboard::EMPTY,
            put_down: Bitboard::EMPTY,
            adjusted: Bitboard::EMPTY,
            origins,
            touched: Bitboard::EMPTY,
            when: PerSquare::from_fn(|_| 0),
            frames: 0,
            together: Bitboard::EMPTY,
            left: (Bitboard::EMPTY, 0),
        }
    }

    /// The men stand where they belong from now on, except that one is in the air.
    pub(super) fn settle(&mut self, lifted: Option<Square>) {
        let men = lifted.map_or(self.occupied, |square| self.occupied.with(square));
        let adjusted = self.touched;
        *self = Self::at_home(men);
        self.adjusted = adjusted;
        if let Some(square) = lifted {
            self.change(0, square.into(), Bitboard::EMPTY);
        }
    }

    /// Men were lifted, others put down, between two looks at the board, the last at `now`.
    pub(super) fn change(&mut self, now: u32, lifted: Bitboard, placed: Bitboard) {
        self.frames = self.frames.saturating_add(1);
        if lifted.any() {
            let (before, at) = self.left;
            let is_soon = self.frames > 1 && now.wrapping_sub(at) < TOGETHER_MS;
            let left = if is_soon { before | lifted } else { lifted };
            if left.more_than_one() {
                self.together |= left;
            }
            self.left = (left, now);
        }
        for square in squares(lifted) {
            self.held |= *self.origins.get(square);
            *self.origins.get_mut(square) = Bitboard::EMPTY;
        }
        let beside = self.put_down | self.adjusted;
        let held = if self.held.any() { self.held } else { beside };
        for square in squares(placed) {
            *self.origins.get_mut(square) = held;
        }
        // Of several in the air, nobody knows which are left.
        if placed.any() && !self.held.more_than_one() {
            self.put_down |= self.held;
            self.held = Bitboard::EMPTY;
        }
        for square in squares(lifted | placed) {
            *self.when.get_mut(square) = self.frames;
        }
        self.touched |= lifted | placed;
        self.occupied = self.occupied & !lifted | placed;
    }

    pub(super) const fn occupied(&self) -> Bitboard {
        self.occupied
    }

    /// Squares on which anything happened.
    pub(super) const fn touched(&self) -> Bitboard {
        self.touched
    }

    /// Squares whose men were lifted at the same moment as others.
    pub(super) const fn together(&self) -> Bitboard {
        self.together
    }

    /// From where the man on a square may have come; nothing for an empty square, and for a man
    /// from beside the board.
    pub(super) const fn origins(&self, square: Square) -> Bitboard {
        *self.origins.get(square)
    }

    /// Whether the man on an occupied square may be this one.
    pub(super) fn may_be(&self, square: Square, origin: Origin) -> bool {
        match origin {
            Origin::Square(from) => self.origins(square).contains(from),
            Origin::Box => (self.touched | self.adjusted).contains(square),
        }
    }

    /// Squares of `home` from which the man is gone, though another may stand there.
    pub(super) fn displaced(&self, home: Bitboard) -> Bitboard {
        let gone = squares(home).filter(|&square| !self.origins(square).contains(square));
        gone.fold(Bitboard::EMPTY, |all, square| all.with(square))
    }

    /// Whether what last happened on `first` was before what last happened on `second`.
    pub(super) fn is_before(&self, first: Square, second: Square) -> bool {
        self.when.get(first) < self.when.get(second)
    }

    /// The same seen from the other side of the board.
    pub(super) fn turned(&self) -> Self {
        let turn = |square: Square| square.rotate_180();
        Self {
            occupied: self.occupied.rotate_180(),
            held: self.held.rotate_180(),
            put_down: self.put_down.rotate_180(),
            adjusted: self.adjusted.rotate_180(),
            origins: PerSquare::from_fn(|square| self.origins.get(turn(square)).rotate_180()),
            touched: self.touched.rotate_180(),
            when: PerSquare::from_fn(|square| *self.when.get(turn(square))),
            frames: self.frames,
            together: self.together.rotate_180(),
            left: (self.left.0.rotate_180(), self.left.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lift(hands: &mut Hands, square: Square) {
        let now = u32::from(hands.frames) * 100;
        hands.change(now, square.into(), Bitboard::EMPTY);
    }

    fn place(hands: &mut Hands, square: Square) {
        hands.change(0, Bitboard::EMPTY, square.into());
    }

    #[test]
    fn a_single_man_in_the_air_is_known_again() {
        let mut hands = Hands::at_home(Bitboard::from(Square::E2) | Square::D7);
        lift(&mut hands, Square::E2);
        place(&mut hands, Square::E3);
        lift(&mut hands, Square::E3);
        place(&mut hands, Square::E4);
        assert_eq!(hands.origins(Square::E4), Square::E2.into());
        assert!(hands.may_be(Square::E4, Origin::Square(Square::E2)));
        assert!(!hands.may_be(Square::E4, Origin::Square(Square::D7)));
        place(&mut hands, Square::A8);
        assert!(hands.may_be(Square::A8, Origin::Box));
        // Or a man from beside the board was put on e4, and the one from e2 on a8.
        assert_eq!(hands.origins(Square::A8), Square::E2.into());
    }

    #[test]
    fn of_two_in_the_air_either_may_come_down() {
        let mut hands = Hands::at_home(Bitboard::from(Square::E4) | Square::D5);
        lift(&mut hands, Square::D5);
        lift(&mut hands, Square::E4);
        place(&mut hands, Square::D5);
        assert_eq!(hands.origins(Square::D5), Bitboard::from(Square::E4) | Square::D5);
        assert_eq!(hands.displaced(Bitboard::from(Square::E4) | Square::D5), Square::E4.into());
        assert!(hands.together().is_empty());
        assert_eq!(hands.turned().turned().origins(Square::D5), hands.origins(Square::D5));
        assert_eq!(hands.turned().occupied(), Square::E4.into());
    }
}
