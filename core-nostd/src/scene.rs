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

    /// The scene after `mv`, if it is legal here. It must be a legal move of another position with
    /// the same side to move; castling and en passant are not asked about and count as illegal.
    pub fn after_if_legal(&self, mv: Move) -> Option<Scene> {
        let Move::Normal { role, from, capture, to, .. } = mv else { return None };
        let stands = |color, role, square| {
            (self.place.role(role) & self.place.color(color)).contains(square)
        };
        let free = capture.map_or_else(
            || !self.place.occupied().contains(to),
            |victim| stands(!self.turn, victim, to),
        );
        if !stands(self.turn, role, from) || !free || self.place.is_obstructed(from, to) {
            return None;
        }
        let after = self.after(mv);
        (!after.place.is_check(self.turn)).then_some(after)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::parse_fen;

    /// Every move that is legal after one reply is asked about after every other.
    #[test]
    fn legality_elsewhere_is_that_of_the_rules() {
        let mut asked = 0;
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "4k3/3nr3/8/8/1b6/2N1B3/3P4/R3K2R b KQ - 0 1",
        ] {
            let position = parse_fen(fen).unwrap();
            let after = |mv| {
                let mut next = position.clone();
                next.play_unchecked(mv);
                next
            };
            for elsewhere in position.legal_moves() {
                let moves = after(elsewhere).legal_moves();
                for here in position.legal_moves() {
                    let here = after(here);
                    let legal = here.legal_moves();
                    for mv in &moves {
                        let ours = Scene::new(&here).after_if_legal(*mv);
                        let plain = matches!(mv, Move::Normal { .. });
                        assert_eq!(ours.is_some(), plain && legal.contains(mv), "{here:?} {mv:?}");
                        asked += 1;
                    }
                }
            }
        }
        assert!(asked > 50_000, "{asked}");
    }

    #[test]
    fn a_scene_follows_the_rules_board() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
            "rnbqkb1r/ppp1pppp/5n2/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3",
        ] {
            let position = parse_fen(fen).unwrap();
            for mv in position.legal_moves() {
                let mut next = position.clone();
                next.play_unchecked(mv);
                let scene = Scene::new(&position).after(mv);
                assert_eq!(scene, Scene::new(&next), "{mv:?}");
                assert_eq!(scene.is_check(), next.is_check(), "{mv:?}");
            }
        }
    }
}
