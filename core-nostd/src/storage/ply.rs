//! A move and who made it, in 16 bits.
//!
//! From the lowest: six bits of the square left, six of the square arrived on (the king's where it
//! castles), three of the piece promoted to, one of the maker.
use shakmaty::{Chess, Move, Role, Square, uci::UciMove};

use crate::{game::Maker, legal, moves::destination};

const PROMOTIONS: [Option<Role>; 5] =
    [None, Some(Role::Knight), Some(Role::Bishop), Some(Role::Rook), Some(Role::Queen)];
const TOLD: u16 = 1 << 15;

/// Packs a move.
pub fn pack(mv: Move, maker: Maker) -> u16 {
    let to = destination(mv);
    let from = mv.from().unwrap_or(to);
    let promotion = PROMOTIONS.iter().position(|&role| role == mv.promotion()).unwrap_or(0);
    let maker = if maker == Maker::Told { TOLD } else { 0 };
    from as u16 | (to as u16) << 6 | (promotion as u16) << 12 | maker
}

/// The legal move of a position that was packed so.
pub fn unpack(word: u16, position: &Chess) -> Option<(Move, Maker)> {
    let [from, to] = [word, word >> 6].map(|bits| Square::new(u32::from(bits & 63)));
    let promotion = *PROMOTIONS.get(usize::from(word >> 12 & 7))?;
    let maker = if word & TOLD == 0 { Maker::Hand } else { Maker::Told };
    Some((legal::named(position, &UciMove::Normal { from, to, promotion })?, maker))
}
