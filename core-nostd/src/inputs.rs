//! What the network reads of a position: 64 board tokens and seven scalars.
use serde::{Deserialize, Serialize};
use shakmaty::{CastlingSide, Chess, Color, Position as _, Square};

use crate::legal;

/// Number of board squares, one token each.
pub const SQUARES: usize = 64;
/// Number of token values: empty, six white and six black piece types.
pub const TOKENS: usize = 13;
/// Number of scalars.
pub const AUX: usize = 7;
/// Each scalar is `aux[i] / AUX_DENOMINATOR[i]`: side to move, the four castling rights
/// (white king's and queen's side, black king's and queen's side), en passant file,
/// halfmove clock. A power of two it is not, so the float is formed once, at the edge.
pub const AUX_DENOMINATOR: [i8; AUX] = [1, 1, 1, 1, 1, 7, 100];
/// The en passant scalar's numerator when there is no legal en passant capture (−1.0).
const NO_EN_PASSANT: i8 = -AUX_DENOMINATOR[5];

/// From whose side the network sees the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(rename_all = "lowercase")]
pub enum Perspective {
    /// White is always at the bottom.
    #[default]
    Absolute,
    /// With Black to move the ranks are mirrored and the colours swapped.
    Mover,
}

/// The coordinates of one position under a [`Perspective`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    flip: bool,
}

impl Frame {
    /// The frame in which `perspective` shows a position with `turn` to move.
    pub const fn new(perspective: Perspective, turn: Color) -> Frame {
        let flip = matches!((perspective, turn), (Perspective::Mover, Color::Black));
        Frame { flip }
    }

    /// A board square in this frame, or a frame's square on the board: the map is its own inverse.
    pub const fn square(self, square: Square) -> Square {
        if self.flip { square.flip_vertical() } else { square }
    }

    /// A board colour in this frame, or the other way round.
    pub const fn color(self, color: Color) -> Color {
        if self.flip { color.other() } else { color }
    }
}

/// The network's input, in integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inputs {
    /// Squares a1 … h8: 0 empty, 1–6 white P N B R Q K, 7–12 black.
    pub tokens: [u8; SQUARES],
    /// Numerators of the scalars, see [`AUX_DENOMINATOR`].
    pub aux: [i8; AUX],
}

impl Inputs {
    /// Encodes `position`.
    pub fn new(position: &Chess, perspective: Perspective) -> Inputs {
        let frame = Frame::new(perspective, position.turn());
        let mut tokens = [0; SQUARES];
        for (square, piece) in position.board() {
            let black = frame.color(piece.color).is_black();
            tokens[frame.square(square).to_usize()] = piece.role as u8 + if black { 6 } else { 0 };
        }
        let right = |color, side| position.castles().has(frame.color(color), side) as i8;
        let en_passant = legal::en_passant(position)
            .map_or(NO_EN_PASSANT, |(_, square)| square.file().to_u32() as i8);
        let aux = [
            frame.color(position.turn()).is_white() as i8,
            right(Color::White, CastlingSide::KingSide),
            right(Color::White, CastlingSide::QueenSide),
            right(Color::Black, CastlingSide::KingSide),
            right(Color::Black, CastlingSide::QueenSide),
            en_passant,
            position.halfmoves().min(AUX_DENOMINATOR[6] as u32) as i8,
        ];
        Inputs { tokens, aux }
    }
}
