//! The search: who can take what, on a placement that is changed and changed back.
//!
//! It answers one question, "does the side to move gain at least so much?", and no more than
//! that has to be carried along. The side to move may stop at once, so a capture that gains `g`
//! gains no more than `g` in the end: the opponent can stop there. That bound is exact, and rules
//! most captures out before they are looked for. Victims are looked at, not moves: first the
//! piece that has just captured, then the dearest; and of their attackers first the cheapest.
use shakmaty::{Bitboard, Color, Move, Role, Square};

use super::{PAWN, piece_points};
use crate::placement::{Capture, Placement, squares};

/// What a promotion adds at most.
const BEST_PROMOTION: i32 = piece_points(Role::Queen) - PAWN;
/// The most that one capture gains.
pub(super) const MOST: i32 = piece_points(Role::Queen) + BEST_PROMOTION;
/// What a pawn may become.
const PROMOTIONS: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];
/// Pieces that can be taken, dearest first.
const VICTIMS: [Role; 5] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn];

/// A search under way.
pub(super) struct Search {
    /// The pieces, as they stand at the position looked at.
    pub place: Placement,
    /// Positions that may still be looked at; without any left every side stops where it is.
    pub nodes: u32,
}

impl Search {
    /// Whether `us`, to move, gains at least `needed` points by captures. `last` is the piece
    /// that has just captured: taking it is the likeliest answer.
    pub fn gains(&mut self, us: Color, needed: i32, last: Option<(Square, Role)>) -> bool {
        if needed <= 0 {
            return true;
        }
        if self.nodes == 0 {
            return false;
        }
        self.nodes -= 1;
        let promotion = self.best_promotion(us);
        let mut wanted = self.worth(!us, needed - promotion);
        if let Some((square, victim)) = last {
            if wanted.contains(square) && self.gains_on(us, needed, square, victim) {
                return true;
            }
            wanted.discard(square);
        }
        let targets = self.place.attacked(us, wanted);
        for victim in VICTIMS {
            for square in squares(self.place.role(victim) & targets) {
                if self.gains_on(us, needed, square, victim) {
                    return true;
                }
            }
        }
        false
    }

    /// Pieces of `color` that are worth at least this many points, its king excepted.
    #[inline]
    fn worth(&self, color: Color, points: i32) -> Bitboard {
        let mut pieces = self.place.color(color) & !self.place.role(Role::King);
        for role in Role::ALL {
            if piece_points(role) >= points {
                break;
            }
            pieces &= !self.place.role(role);
        }
        pieces
    }

    /// What a promotion may add to a capture.
    fn best_promotion(&self, us: Color) -> i32 {
        let seventh = us.fold_wb(Bitboard(0x00ff_0000_0000_0000), Bitboard(0xff00));
        let pawns = self.place.role(Role::Pawn) & self.place.color(us);
        if (pawns & seventh).any() { BEST_PROMOTION } else { 0 }
    }

    /// Whether a capture on `to` gains at least `needed`.
    fn gains_on(&mut self, us: Color, needed: i32, to: Square, victim: Role) -> bool {
        let attackers = self.place.attackers(to, us);
        if attackers.is_empty() {
            return false;
        }
        let last_rank = Bitboard::BACKRANKS.contains(to);
        for role in Role::ALL {
            for from in squares(attackers & self.place.role(role)) {
                let gains = if role == Role::Pawn && last_rank {
                    self.gains_by_promotion(us, needed, from, to, victim)
                } else {
                    self.gains_by(us, needed, Capture { role, from, to, victim, becomes: role })
                };
                if gains {
                    return true;
                }
            }
        }
        false
    }

    /// Whether a pawn that captures and is promoted gains at least `needed`.
    #[inline(never)]
    fn gains_by_promotion(
        &mut self,
        us: Color,
        needed: i32,
        from: Square,
        to: Square,
        victim: Role,
    ) -> bool {
        PROMOTIONS.into_iter().any(|becomes| {
            self.gains_by(us, needed, Capture { role: Role::Pawn, from, to, victim, becomes })
        })
    }

    /// Whether this capture, if it is legal, gains at least `needed`.
    fn gains_by(&mut self, us: Color, needed: i32, capture: Capture) -> bool {
        let Capture { role, becomes, victim, to, .. } = capture;
        let gain = piece_points(victim) + piece_points(becomes) - piece_points(role);
        if gain < needed {
            return false;
        }
        let legal = self.place.capture(us, capture);
        let gains = legal && !self.gains(!us, gain - needed + 1, Some((to, becomes)));
        self.place.take_back(us, capture);
        gains
    }

    /// [`Search::gains`] where a pawn that has just passed `square` can also be taken there.
    pub fn gains_in_passing(&mut self, us: Color, needed: i32, square: Square) -> bool {
        if needed <= PAWN {
            for from in squares(self.place.attackers(square, us) & self.place.role(Role::Pawn)) {
                let before = self.place.clone();
                self.place.play(us, Move::EnPassant { from, to: square });
                let gains = !self.place.is_check(us)
                    && !self.gains(!us, PAWN - needed + 1, Some((square, Role::Pawn)));
                self.place = before;
                if gains {
                    return true;
                }
            }
        }
        self.gains(us, needed, None)
    }
}
