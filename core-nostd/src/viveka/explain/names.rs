//! Pieces by name: "the king, the rook on a8 and the pawn on b7".
use core::fmt;

use shakmaty::{Bitboard, Board, Role, Square};

/// Roles in the order of naming, dearest first.
const ORDER: [Role; 6] =
    [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn];

/// The English name of a piece.
pub const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Pawn => "pawn",
        Role::Knight => "knight",
        Role::Bishop => "bishop",
        Role::Rook => "rook",
        Role::Queen => "queen",
        Role::King => "king",
    }
}

/// Writes one piece; of kings there is but one, so its square says nothing.
pub fn write_piece(f: &mut fmt::Formatter<'_>, role: Role, square: Square) -> fmt::Result {
    write!(f, "the {}", role_name(role))?;
    if role == Role::King { Ok(()) } else { write!(f, " on {square}") }
}

/// Writes what stands between two of `count` things of a list before number `place`.
pub fn write_separator(f: &mut fmt::Formatter<'_>, place: usize, count: usize) -> fmt::Result {
    f.write_str(match place {
        0 => "",
        _ if place + 1 == count => " and ",
        _ => ", ",
    })
}

/// Writes the pieces of `board` on `squares`, dearest first.
pub fn write_pieces(f: &mut fmt::Formatter<'_>, board: &Board, squares: Bitboard) -> fmt::Result {
    let squares = squares & board.occupied();
    let pieces = ORDER
        .into_iter()
        .flat_map(|role| (squares & board.by_role(role)).into_iter().map(move |s| (role, s)));
    for (place, (role, square)) in pieces.enumerate() {
        write_separator(f, place, squares.count())?;
        write_piece(f, role, square)?;
    }
    // A sentence stays whole even where its term found nobody to name.
    if squares.is_empty() { f.write_str("a piece") } else { Ok(()) }
}
