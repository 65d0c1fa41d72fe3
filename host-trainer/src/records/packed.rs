//! A position in 32 bytes.
use std::num::NonZeroU32;

use bytemuck::{Pod, Zeroable};
use kibitzer_core::shakmaty::{
    Bitboard, CastlingMode, Chess, Color, EnPassantMode, FromSetup as _, Piece, Position as _,
    PositionError, Role, Setup, Square,
};

use super::RecordError;

/// Pieces that a record has room for: no position of chess has more.
const MAX_PIECES: usize = 32;
/// In [`PackedPosition::en_passant`]: no square.
pub(super) const NO_SQUARE: u8 = 64;
/// The corners, in the order of the castling bits.
const CORNERS: [Square; 4] = [Square::A1, Square::H1, Square::A8, Square::H8];
const BLACK_TO_MOVE: u8 = 1 << 4;

/// A position of a game, little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PackedPosition {
    /// Bit s: a piece stands on square s (a1 = 0 … h8 = 63).
    occupied: u64,
    /// The pieces in the order of their squares, four bits each, low half first: role 1–6
    /// (P N B R Q K), plus 8 for Black.
    pieces: [u8; MAX_PIECES / 2],
    halfmoves: u16,
    fullmoves: u16,
    /// Moves played in the game before this position.
    pub ply: u16,
    /// Bits 0–3: a rook on a1, h1, a8, h8 may castle; bit 4: Black to move.
    flags: u8,
    /// The square that the last move's pawn passed over, or [`NO_SQUARE`].
    en_passant: u8,
}

impl PackedPosition {
    /// Packs `position`, which a game reached after `ply` moves.
    pub fn new(position: &Chess, ply: usize) -> PackedPosition {
        let mut pieces = [0; MAX_PIECES / 2];
        let board = position.board();
        for (i, (_, piece)) in board.iter().enumerate() {
            pieces[i / 2] |= code(piece) << (i % 2 * 4);
        }
        let rights = position.castles().castling_rights();
        let castling = (0..4).filter(|&i| rights.contains(CORNERS[i])).map(|i| 1 << i).sum::<u8>();
        let turn = if position.turn().is_black() { BLACK_TO_MOVE } else { 0 };
        let clamp = |number: u32| number.min(u16::MAX.into()) as u16;
        PackedPosition {
            occupied: board.occupied().into(),
            pieces,
            halfmoves: clamp(position.halfmoves()),
            fullmoves: clamp(position.fullmoves().get()),
            ply: clamp(ply as u32),
            flags: castling | turn,
            en_passant: position.ep_square(EnPassantMode::Always).map_or(NO_SQUARE, u8::from),
        }
    }

    /// Whether the same pieces stand on the same squares.
    pub fn has_same_pieces(&self, other: &PackedPosition) -> bool {
        (self.occupied, self.pieces) == (other.occupied, other.pieces)
    }

    /// Rebuilds the position, exactly as it was packed.
    ///
    /// # Errors
    /// [`RecordError::Position`] if the bytes are not those of a packed position.
    pub fn unpack(&self) -> Result<Chess, RecordError> {
        let mut setup = Setup::empty();
        let occupied = Bitboard(self.occupied);
        if occupied.count() > MAX_PIECES {
            return Err(RecordError::Position);
        }
        for (i, square) in occupied.into_iter().enumerate() {
            let piece = piece(self.pieces[i / 2] >> (i % 2 * 4) & 15);
            setup.board.set_piece_at(square, piece.ok_or(RecordError::Position)?);
        }
        setup.turn = self.turn();
        setup.castling_rights =
            (0..4).filter(|i| self.flags >> i & 1 != 0).map(|i| CORNERS[i]).collect();
        setup.ep_square = Square::try_from(self.en_passant).ok();
        setup.halfmoves = self.halfmoves.into();
        setup.fullmoves = NonZeroU32::new(self.fullmoves.into()).ok_or(RecordError::Position)?;
        Chess::from_setup(setup, CastlingMode::Standard)
            .or_else(PositionError::ignore_impossible_check)
            .map_err(|_| RecordError::Position)
    }

    /// The side to move.
    pub fn turn(&self) -> Color {
        Color::from_black(self.flags & BLACK_TO_MOVE != 0)
    }
}

const fn code(piece: Piece) -> u8 {
    piece.role as u8 + if piece.color.is_black() { 8 } else { 0 }
}

fn piece(code: u8) -> Option<Piece> {
    let role = Role::try_from(code & 7).ok()?;
    Some(Piece { color: Color::from_black(code & 8 != 0), role })
}

#[cfg(test)]
mod tests {
    use kibitzer_core::position::parse_fen;

    use super::*;

    /// Equality of `Chess` leaves the counters and useless en passant squares out.
    fn setup(position: &Chess) -> Setup {
        position.to_setup(EnPassantMode::Always)
    }

    #[test]
    fn a_position_comes_back_as_it_was() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/8/8/8/8/8/8/R3K2R b Kq - 99 140",
            "r3k2r/8/8/8/8/8/8/R3K2R w Qk - 12 14",
            "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
            "8/P6k/8/8/8/8/8/K7 w - - 300 400",
        ] {
            let position = parse_fen(fen).unwrap();
            let packed = PackedPosition::new(&position, 7);
            assert_eq!(setup(&packed.unpack().unwrap()), setup(&position), "{fen}");
        }
    }

    #[test]
    fn damage_is_an_error() {
        let packed = PackedPosition::new(&Chess::default(), 0);
        let no_role = PackedPosition { pieces: [0x70; 16], ..packed };
        assert_eq!(no_role.unpack(), Err(RecordError::Position));
        let crowded = PackedPosition { occupied: u64::MAX, ..packed };
        assert_eq!(crowded.unpack(), Err(RecordError::Position));
        assert_eq!(PackedPosition::zeroed().unpack(), Err(RecordError::Position));
    }
}
