//! Sets of squares as a colour sees them: forward is toward the enemy's back rank.
use shakmaty::{Bitboard, Color, File, Square};

use crate::viveka::facts::rank_of;

/// The set one rank forward.
pub(super) fn forward(set: Bitboard, color: Color) -> Bitboard {
    set.shift(color.fold_wb(8, -8))
}

/// The set and all squares ahead of it on the same files.
pub(super) fn fill(set: Bitboard, color: Color) -> Bitboard {
    let step = |set: Bitboard, ranks: i32| set | set.shift(color.fold_wb(8 * ranks, -8 * ranks));
    step(step(step(set, 1), 2), 4)
}

/// The set moved one file to either side, without it.
pub(super) fn beside(set: Bitboard) -> Bitboard {
    let east = set.without(Bitboard::from_file(File::H)).shift(1);
    let west = set.without(Bitboard::from_file(File::A)).shift(-1);
    east | west
}

/// All squares of the files on which the set has one.
pub(super) fn files(set: Bitboard) -> Bitboard {
    fill(set, Color::White) | fill(set, Color::Black)
}

/// Ranks `from` to `to` (0 to 7, both included) of `color`.
pub(super) fn ranks(from: u32, to: u32, color: Color) -> Bitboard {
    (from..=to).fold(Bitboard::EMPTY, |all, rank| all | rank_of(rank, color))
}

/// Files c to f.
pub(super) const CENTRE_FILES: Bitboard = Bitboard(0x3c3c_3c3c_3c3c_3c3c);
/// Files d and e: where kings stand before they castle.
pub(super) const KING_HOMES: Bitboard = Bitboard(0x1818_1818_1818_1818);

/// King moves between two squares, 0 to 7.
pub(super) fn distance(a: Square, b: Square) -> i32 {
    a.distance(b) as i32
}

/// Number of squares, as the features count.
pub(super) fn count(set: Bitboard) -> i32 {
    set.count() as i32
}
