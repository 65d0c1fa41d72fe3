//! Results told by the kings, as on boards that players know: both on light squares of the
//! centre, White has won; both on dark ones, Black; on one of each, side by side on a file, drawn.
use shakmaty::{Bitboard, Chess, Color, Position as _, Square};

use super::hands::Hands;
use crate::game::Outcome;

/// The four squares in the centre.
const CENTRE: Bitboard = Bitboard(
    1 << Square::D4 as u32
        | 1 << Square::E4 as u32
        | 1 << Square::D5 as u32
        | 1 << Square::E5 as u32,
);

/// What each pair of squares tells.
const RESULTS: [(Square, Square, Outcome); 4] = [
    (Square::E4, Square::D5, Outcome::Win(Color::White)),
    (Square::D4, Square::E5, Outcome::Win(Color::Black)),
    (Square::E4, Square::E5, Outcome::Draw),
    (Square::D4, Square::D5, Outcome::Draw),
];

/// The result that the kings tell: both were lifted, each of the pair may be one of them, and the
/// other men stand where they were or are off the board.
pub(super) fn result(position: &Chess, hands: &Hands) -> Option<Outcome> {
    let kings = position.board().kings();
    let (seen, home) = (hands.occupied(), position.board().occupied());
    if !kings.is_subset(hands.touched()) {
        return None;
    }
    RESULTS.into_iter().find_map(|(first, second, outcome)| {
        let pair = Bitboard::from(first) | second;
        let may_be_king = |square| hands.origins(square).intersects(kings);
        let is_told = seen & CENTRE == pair
            && may_be_king(first)
            && may_be_king(second)
            && (seen & !pair).is_subset(home & !kings);
        is_told.then_some(outcome)
    })
}
