//! Pairs of positions that differ by a piece.
use kibitzer_core::shakmaty::{
    CastlingMode, Chess, Color, EnPassantMode, FromSetup as _, Position as _, Role, Square,
};

/// Kinds of pieces that are taken away.
const ROLES: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// One position twice, the same side to move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// Without one of the mover's pieces.
    pub piece_down: Chess,
    /// Without the opponent's piece of the same kind.
    pub piece_up: Chess,
}

impl Pair {
    /// A pair from `position`, if both sides have a piece of one kind and both positions are
    /// legal. `turn` decides which kind is tried first, so that all have their share.
    pub fn of(position: &Chess, turn: usize) -> Option<Pair> {
        (0..ROLES.len()).find_map(|i| {
            let role = ROLES[(turn + i) % ROLES.len()];
            let without = |color: Color| {
                let pieces = position.board().by_color(color) & position.board().by_role(role);
                pieces.into_iter().find_map(|square| without(position, square))
            };
            let mover = position.turn();
            Some(Pair { piece_down: without(mover)?, piece_up: without(mover.other())? })
        })
    }
}

/// The position without the piece on `square`, if that is legal.
fn without(position: &Chess, square: Square) -> Option<Chess> {
    let mut setup = position.to_setup(EnPassantMode::Legal);
    setup.board.discard_piece_at(square);
    setup.castling_rights.discard(square);
    setup.ep_square = None;
    Chess::from_setup(setup, CastlingMode::Standard).ok()
}

#[cfg(test)]
mod tests {
    use kibitzer_core::position::parse_fen;

    use super::*;

    #[test]
    fn each_side_loses_a_piece_of_the_kind_whose_turn_it_is() {
        let start = Chess::default();
        for (turn, role) in ROLES.into_iter().enumerate() {
            let pair = Pair::of(&start, turn).unwrap();
            let full = start.board().by_role(role).count();
            for (position, loser) in
                [(&pair.piece_down, Color::White), (&pair.piece_up, Color::Black)]
            {
                assert_eq!(position.turn(), Color::White);
                assert_eq!(position.board().occupied().count(), 31);
                let left = position.board().by_color(loser) & position.board().by_role(role);
                assert_eq!(left.count(), full / 2 - 1);
            }
        }
    }

    #[test]
    fn a_piece_whose_absence_is_illegal_stays() {
        // Black's rook shields its king from White's: taking it away would leave Black in check
        // with White to move, and no other kind is there on both sides.
        let position = parse_fen("4k3/4r3/8/8/8/8/4R3/4K3 w - - 0 1").unwrap();
        assert_eq!(Pair::of(&position, 0), None);
        let both = parse_fen("4k3/4r3/8/8/8/8/4R3/N3K2n w - - 0 1").unwrap();
        let pair = Pair::of(&both, 1).unwrap();
        assert_eq!(pair.piece_up.board().by_role(Role::Rook).count(), 2);
    }

    #[test]
    fn bare_kings_have_no_pair() {
        let position = parse_fen("4k3/8/8/8/8/8/8/4K3 w - - 0 1").unwrap();
        assert_eq!(Pair::of(&position, 0), None);
    }
}
