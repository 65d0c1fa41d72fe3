//! A position as exchanges see it: the pieces, whose turn it is, and a pawn that can be taken in
//! passing. Castling rights and clocks are left out, and moves are not asked whether they are
//! legal, so that playing one costs little. [`shakmaty`] tells the legal moves.
use shakmaty::{Chess, Color, Move, Position as _, Role, Square};

use crate::placement::Placement;

/// The pieces, the side to move, and the square that a pawn has just passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scene {
    /// The pieces.
    pub place: Placement,
    /// The side to move.
    pub turn: Color,
    /// The square that the opponent's pawn has just passed over.
    pub passed_over: Option<Square>,
}

impl Scene {
    /// What `position` shows.
    pub fn new(position: &Chess) -> Scene {
        Scene {
            place: Placement::new(position.board()),
            turn: position.turn(),
            passed_over: position.maybe_ep_square(),
        }
    }

    /// The scene after `mv`, a legal move.
    pub fn after(&self, mv: Move) -> Scene {
        let mut place = self.place.clone();
        place.play(self.turn, mv);
        Scene { place, turn: !self.turn, passed_over: passed_over(mv) }
    }

    /// The scene with the other side to move.
    pub fn passed(&self) -> Scene {
        Scene { place: self.place.clone(), turn: !self.turn, passed_over: None }
    }

    /// Whether the side to move is in check.
    pub fn is_check(&self) -> bool {
        self.place.is_check(self.turn)
    }
}

/// The square between, if `mv` is a pawn's double step.
fn passed_over(mv: Move) -> Option<Square> {
    match mv {
        Move::Normal { role: Role::Pawn, from, to, .. } if (to - from).abs() == 16 => {
            from.offset((to - from) / 2)
        }
        _ => None,
    }
}
