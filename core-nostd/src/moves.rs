//! The index of moves, 64 × 73 as in AlphaZero: `from * 73 + plane`.
//!
//! Planes 0–55 are the eight directions at distances one to seven, 56–63 the knight's jumps,
//! 64–72 underpromotions. Queen promotions use the direction planes.
use shakmaty::{CastlingSide, Chess, Color, File, Move, Role, Square};

use crate::{
    inputs::{Frame, SQUARES},
    legal,
};

/// Planes a square.
pub const PLANES: usize = 73;
/// Size of the move index.
pub const MOVES: usize = SQUARES * PLANES;
/// The most legal moves that any reachable position has.
pub const MAX_LEGAL: usize = 218;

/// File and rank steps N, NE, E, SE, S, SW, W, NW.
const DIRECTIONS: [(i8, i8); 8] =
    [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];
const DISTANCES: usize = 7;
/// File and rank steps of the knight.
const KNIGHT: [(i8, i8); 8] =
    [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];
const FIRST_KNIGHT: usize = DIRECTIONS.len() * DISTANCES;
const FIRST_UNDERPROMOTION: usize = FIRST_KNIGHT + KNIGHT.len();
/// Underpromotions in plane order, three file steps each.
const UNDERPROMOTIONS: [Role; 3] = [Role::Knight, Role::Bishop, Role::Rook];
/// Number of underpromotion planes.
pub const UNDERPROMOTION_PLANES: usize = PLANES - FIRST_UNDERPROMOTION;

/// An index into the network's policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MoveIndex(u16);

impl MoveIndex {
    /// The index of `mv` as seen in `frame`; castling counts as the king's step of two. Drops,
    /// which standard chess does not have, have none of their own.
    pub fn new(mv: Move, frame: Frame) -> MoveIndex {
        let from = frame.square(mv.from().unwrap_or(mv.to()));
        let to = frame.square(destination(mv));
        let df = to.file().to_u32() as i8 - from.file().to_u32() as i8;
        let dr = to.rank().to_u32() as i8 - from.rank().to_u32() as i8;
        let underpromotion = UNDERPROMOTIONS.iter().position(|&r| Some(r) == mv.promotion());
        let plane = if let Some(role) = underpromotion {
            FIRST_UNDERPROMOTION + role * 3 + (df + 1) as usize
        } else if let Some(jump) = KNIGHT.iter().position(|&step| step == (df, dr)) {
            FIRST_KNIGHT + jump
        } else {
            let distance = df.abs().max(dr.abs());
            let step = (df.signum(), dr.signum());
            let direction = DIRECTIONS.iter().position(|&d| d == step).unwrap_or(0);
            direction * DISTANCES + distance as usize - 1
        };
        MoveIndex((from.to_usize() * PLANES + plane) as u16)
    }

    /// The index with this number, if it is below [`MOVES`].
    pub const fn from_usize(index: usize) -> Option<MoveIndex> {
        if index < MOVES { Some(MoveIndex(index as u16)) } else { None }
    }

    /// The number of this index, below [`MOVES`].
    pub const fn to_usize(self) -> usize {
        self.0 as usize
    }

    /// The number of the origin square, in the frame.
    pub(crate) const fn origin(self) -> usize {
        self.to_usize() / PLANES
    }

    /// The origin square, in the frame.
    pub fn from(self) -> Square {
        // Below 64 in any case.
        Square::new(self.origin() as u32 % SQUARES as u32)
    }

    /// The underpromotion plane (0–8), if it is one.
    pub const fn underpromotion(self) -> Option<usize> {
        (self.to_usize() % PLANES).checked_sub(FIRST_UNDERPROMOTION)
    }

    /// The number of the square arrived on, in the frame; `None` off the board. Underpromotion planes
    /// advance from the seventh rank to the eighth or from the second to the first.
    pub(crate) fn target(self) -> Option<usize> {
        let plane = self.to_usize() % PLANES;
        let (file, rank) = ((self.origin() % 8) as i8, (self.origin() / 8) as i8);
        let (df, dr) = if plane < FIRST_KNIGHT {
            let (df, dr) = DIRECTIONS[plane / DISTANCES];
            let distance = (plane % DISTANCES) as i8 + 1;
            (df * distance, dr * distance)
        } else if plane < FIRST_UNDERPROMOTION {
            KNIGHT[plane - FIRST_KNIGHT]
        } else {
            let rank_step = match rank {
                6 => 1,
                1 => -1,
                _ => return None,
            };
            ((plane - FIRST_UNDERPROMOTION) as i8 % 3 - 1, rank_step)
        };
        let (file, rank) = (file + df, rank + dr);
        let is_on_board = (0..8).contains(&file) && (0..8).contains(&rank);
        is_on_board.then_some((8 * rank + file) as usize)
    }

    /// The square arrived on, in the frame; `None` off the board.
    pub fn to(self) -> Option<Square> {
        self.target().map(|square| Square::new(square as u32 % SQUARES as u32))
    }

    /// The legal move of `position` with this index, if there is one.
    pub fn decode(self, position: &Chess, frame: Frame) -> Option<Move> {
        legal::moves(position).into_iter().find(|&mv| MoveIndex::new(mv, frame) == self)
    }
}

/// Where the king of a castling move arrives, and the rook.
pub fn castling_squares(king: Square, rook: Square, color: Color) -> (Square, Square) {
    let side = CastlingSide::from_queen_side(rook < king);
    (side.king_to(color), side.rook_to(color))
}

/// Where the pawn stands that is taken in passing.
pub fn en_passant_victim(from: Square, to: Square) -> Square {
    Square::from_coords(to.file(), from.rank())
}

/// Where the moved piece lands: [`Move::to`], but the king's square for castling.
pub fn destination(mv: Move) -> Square {
    match mv {
        Move::Castle { king, rook } => {
            let file = if rook.file() > king.file() { File::G } else { File::C };
            Square::from_coords(file, king.rank())
        }
        _ => mv.to(),
    }
}
