//! Mirrored positions.
use kibitzer_core::shakmaty::{
    CastlingMode, Chess, EnPassantMode, FromSetup as _, Position as _, Square,
};

/// The position with its colours exchanged, or its wings; `None` where that is no legal position,
/// as with castling rights on the other wing.
pub fn mirrored(position: &Chess, colours: bool) -> Option<Chess> {
    let mut setup = position.to_setup(EnPassantMode::Legal);
    if colours {
        setup.mirror();
    } else {
        setup.board.flip_horizontal();
        setup.ep_square = setup.ep_square.map(Square::flip_horizontal);
    }
    Chess::from_setup(setup, CastlingMode::Standard).ok()
}
