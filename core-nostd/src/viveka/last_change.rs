//! What the opponent's last move changed, as far as the present position shows it.
use shakmaty::{Bitboard, Chess, Piece, Position as _, attacks};

use super::{facts::Facts, glance::LastMove};

/// Squares whose state the last move changed.
///
/// The position before it is not known. The square it landed on is taken to have been empty, and
/// the piece to have been what it is now; the rook of castling is not looked at.
#[derive(Debug, Clone, Copy, Default)]
pub struct LastChange {
    /// Our loose pieces that the last move newly attacked, with the moved piece or along the line
    /// it opened.
    pub threatened: Bitboard,
    /// Squares that the moved piece guarded from where it came, and that nothing guards now.
    pub unguarded: Bitboard,
}

impl LastChange {
    /// Looks at `position`, which the opponent's move `last` led to; `facts` are those of the
    /// side to move.
    pub fn new(position: &Chess, last: LastMove, facts: &Facts) -> LastChange {
        let (board, them) = (position.board(), &facts.them);
        let Some(role) = board.role_at(last.to).filter(|_| them.pieces.contains(last.to)) else {
            return LastChange::default();
        };
        let occupied = board.occupied().without(last.to).with(last.from);
        let before = attacks::attacks(last.from, Piece { color: them.color, role }, occupied);
        let now = board.attacks_from(last.to);
        let mut newly = now & !before;
        for square in (board.sliders() & them.pieces).without(last.to) {
            let Some(piece) = board.piece_at(square) else { continue };
            newly |= board.attacks_from(square) & !attacks::attacks(square, piece, occupied);
        }
        let unguarded = before & !them.attacks;
        LastChange { threatened: newly & facts.our_loose, unguarded }
    }
}
