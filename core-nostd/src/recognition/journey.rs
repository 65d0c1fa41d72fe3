//! Where each man of a position comes from, along moves played or taken back.
use shakmaty::{Bitboard, Color, Move, Square};

use super::hands::{Hands, Origin};
use crate::{
    moves::{castling_squares, destination, en_passant_victim},
    per_square::PerSquare,
    placement::squares,
};

/// The squares whose occupation a move changes: those it leaves and those it fills.
pub(super) fn footprint(mv: Move, color: Color) -> (Bitboard, Bitboard) {
    match mv {
        Move::Normal { from, to, capture, .. } => {
            let filled = if capture.is_some() { Bitboard::EMPTY } else { to.into() };
            (from.into(), filled)
        }
        Move::EnPassant { from, to } => {
            let victim = en_passant_victim(from, to);
            (Bitboard::from(from) | victim, to.into())
        }
        Move::Castle { king, rook } => {
            let (king_to, rook_to) = castling_squares(king, rook, color);
            let (left, filled) = (Bitboard::from(king) | rook, Bitboard::from(king_to) | rook_to);
            (left & !filled, filled & !left)
        }
        Move::Put { .. } => (Bitboard::EMPTY, Bitboard::EMPTY),
    }
}

/// Occupation after a move, from that before it; and the other way round.
pub(super) fn toggled(occupied: Bitboard, mv: Move, color: Color) -> Bitboard {
    let (left, filled) = footprint(mv, color);
    occupied ^ left ^ filled
}

/// The men that a move displaces, by the squares where they stood: those that move, and one that
/// is taken.
pub(super) fn men(mv: Move, color: Color) -> (Bitboard, Bitboard) {
    match mv {
        Move::Normal { from, to, capture, .. } => {
            (from.into(), if capture.is_some() { to.into() } else { Bitboard::EMPTY })
        }
        Move::EnPassant { from, .. } => (from.into(), footprint(mv, color).0.without(from)),
        Move::Castle { king, rook } => (Bitboard::from(king) | rook, Bitboard::EMPTY),
        Move::Put { .. } => (Bitboard::EMPTY, Bitboard::EMPTY),
    }
}

/// The squares that a move leaves, fills, or replaces a man on.
pub(super) fn all_squares(mv: Move, color: Color) -> Bitboard {
    let (left, filled) = footprint(mv, color);
    left | filled | destination(mv)
}

/// A position that the board may show, by where its men come from.
#[derive(Debug, Clone)]
pub(super) struct Journey {
    occupied: Bitboard,
    origin: PerSquare<Origin>,
}

impl Journey {
    /// Nobody has moved.
    pub(super) fn none(occupied: Bitboard) -> Self {
        Self { occupied, origin: PerSquare::from_fn(Origin::Square) }
    }

    pub(super) const fn occupied(&self) -> Bitboard {
        self.occupied
    }

    /// Along a move of `color`.
    pub(super) fn play(&mut self, mv: Move, color: Color) {
        match mv {
            Move::Normal { from, to, .. } | Move::EnPassant { from, to } => self.carry(from, to),
            Move::Castle { king, rook } => {
                let (king_to, rook_to) = castling_squares(king, rook, color);
                self.carry(king, king_to);
                self.carry(rook, rook_to);
            }
            Move::Put { .. } => {}
        }
        self.occupied = toggled(self.occupied, mv, color);
    }

    /// Back along a move of `color`.
    pub(super) fn take_back(&mut self, mv: Move, color: Color) {
        match mv {
            Move::Normal { from, to, promotion, .. } => {
                self.carry(to, from);
                // What is put back comes from beside the board.
                *self.origin.get_mut(to) = Origin::Box;
                if promotion.is_some() {
                    *self.origin.get_mut(from) = Origin::Box;
                }
            }
            Move::EnPassant { from, to } => {
                self.carry(to, from);
                *self.origin.get_mut(en_passant_victim(from, to)) = Origin::Box;
            }
            Move::Castle { king, rook } => {
                let (king_to, rook_to) = castling_squares(king, rook, color);
                self.carry(king_to, king);
                self.carry(rook_to, rook);
            }
            Move::Put { .. } => {}
        }
        self.occupied = toggled(self.occupied, mv, color);
    }

    /// Whether the board shows this position and hands can have brought it about; `swapped` is a
    /// square whose man may have been replaced unseen.
    pub(super) fn fits(&self, hands: &Hands, swapped: Option<Square>) -> bool {
        self.occupied == hands.occupied() && self.suits(hands, swapped)
    }

    /// Whether each man that both have may be the same.
    pub(super) fn suits(&self, hands: &Hands, swapped: Option<Square>) -> bool {
        let mut common = squares(self.occupied & hands.occupied());
        common
            .all(|square| Some(square) == swapped || hands.may_be(square, *self.origin.get(square)))
    }

    /// The squares that are not as they were.
    pub(super) fn changed(&self, home: Bitboard) -> Bitboard {
        let is_moved = |&square: &Square| *self.origin.get(square) != Origin::Square(square);
        let moved = squares(self.occupied).filter(is_moved);
        moved.fold(self.occupied ^ home, |all, square| all.with(square))
    }

    fn carry(&mut self, from: Square, to: Square) {
        *self.origin.get_mut(to) = *self.origin.get(from);
    }
}
