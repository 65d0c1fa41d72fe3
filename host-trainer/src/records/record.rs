//! One record: a position, the move played in it, and how the game ended.
use std::num::NonZeroU32;

use bytemuck::{Pod, Zeroable};
use kibitzer_core::{
    moves::destination,
    shakmaty::{
        Bitboard, CastlingMode, Chess, Color, EnPassantMode, FromSetup as _, Move, Piece,
        Position as _, PositionError, Role, Setup, Square,
    },
};

/// Pieces that a record has room for: no position of chess has more.
const MAX_PIECES: usize = 32;
/// In [`Record::en_passant`]: no square.
const NO_SQUARE: u8 = 64;
/// The corners, in the order of the castling bits.
const CORNERS: [Square; 4] = [Square::A1, Square::H1, Square::A8, Square::H8];
const BLACK_TO_MOVE: u8 = 1 << 4;

/// A position of a game, 48 bytes, little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Record {
    /// Bit s: a piece stands on square s (a1 = 0 … h8 = 63).
    occupied: u64,
    /// The pieces in the order of their squares, four bits each, low half first: role 1–6
    /// (P N B R Q K), plus 8 for Black.
    pieces: [u8; MAX_PIECES / 2],
    /// Hash of the game's start and moves: equal games have equal hashes.
    pub game_hash: u64,
    /// Number of the game within its file, from 0.
    pub game: u32,
    halfmoves: u16,
    fullmoves: u16,
    /// Moves played in the game before this position.
    pub ply: u16,
    /// Bits 0–3: a rook on a1, h1, a8, h8 may castle; bit 4: Black to move.
    flags: u8,
    /// The square that the last move's pawn passed over, or [`NO_SQUARE`].
    en_passant: u8,
    /// The move played.
    pub played: Played,
    /// The result from the mover's side: 1 won, 0 drawn, −1 lost.
    pub result: i8,
}

/// A move as UCI spells it: castling is the king's step of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Played {
    from: u8,
    to: u8,
    /// Role 2–5 of a promotion, else 0.
    promotion: u8,
}

impl From<Move> for Played {
    fn from(mv: Move) -> Played {
        Played {
            from: mv.from().map_or(NO_SQUARE, u8::from),
            to: destination(mv).into(),
            promotion: mv.promotion().map_or(0, u8::from),
        }
    }
}

/// Why a record cannot be read: the file is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// No legal position has this board.
    #[error("a record holds no legal position")]
    Position,
    /// The move is not legal in the position.
    #[error("a record holds a move that its position does not allow")]
    Move,
}

impl Record {
    /// Packs `position` and the move played in it; the game's hash, number and result are set
    /// once the game has been read.
    pub fn new(position: &Chess, played: Move, ply: usize) -> Record {
        let mut pieces = [0; MAX_PIECES / 2];
        let board = position.board();
        for (i, (_, piece)) in board.iter().enumerate() {
            pieces[i / 2] |= code(piece) << (i % 2 * 4);
        }
        let rights = position.castles().castling_rights();
        let castling = (0..4).filter(|&i| rights.contains(CORNERS[i])).map(|i| 1 << i).sum::<u8>();
        let turn = if position.turn().is_black() { BLACK_TO_MOVE } else { 0 };
        let clamp = |number: u32| number.min(u16::MAX.into()) as u16;
        Record {
            occupied: board.occupied().into(),
            pieces,
            game_hash: 0,
            game: 0,
            halfmoves: clamp(position.halfmoves()),
            fullmoves: clamp(position.fullmoves().get()),
            ply: clamp(ply as u32),
            flags: castling | turn,
            en_passant: position.ep_square(EnPassantMode::Always).map_or(NO_SQUARE, u8::from),
            played: played.into(),
            result: 0,
        }
    }

    /// Rebuilds the position, exactly as it was packed.
    ///
    /// # Errors
    /// [`RecordError::Position`] if the bytes are not those of a packed position.
    pub fn position(&self) -> Result<Chess, RecordError> {
        let mut setup = Setup::empty();
        let occupied = Bitboard(self.occupied);
        if occupied.count() > MAX_PIECES {
            return Err(RecordError::Position);
        }
        for (i, square) in occupied.into_iter().enumerate() {
            let piece = piece(self.pieces[i / 2] >> (i % 2 * 4) & 15);
            setup.board.set_piece_at(square, piece.ok_or(RecordError::Position)?);
        }
        setup.turn = Color::from_black(self.flags & BLACK_TO_MOVE != 0);
        setup.castling_rights =
            (0..4).filter(|i| self.flags >> i & 1 != 0).map(|i| CORNERS[i]).collect();
        setup.ep_square = Square::try_from(self.en_passant).ok();
        setup.halfmoves = self.halfmoves.into();
        setup.fullmoves = NonZeroU32::new(self.fullmoves.into()).ok_or(RecordError::Position)?;
        Chess::from_setup(setup, CastlingMode::Standard)
            .or_else(PositionError::ignore_impossible_check)
            .map_err(|_| RecordError::Position)
    }

    /// Where the played move stands among `legal`, the position's legal moves.
    ///
    /// # Errors
    /// [`RecordError::Move`] if it is not there.
    pub fn played_among(&self, legal: &[Move]) -> Result<usize, RecordError> {
        legal.iter().position(|&mv| Played::from(mv) == self.played).ok_or(RecordError::Move)
    }

    /// Whether the game was held out of training when `share` of the games is: see
    /// [`super::is_held_out`].
    pub fn is_held_out(&self, share: f64) -> bool {
        super::is_held_out(self.game_hash, share)
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

    fn packed(fen: &str) -> (Chess, Record) {
        let position = parse_fen(fen).unwrap();
        let mv = position.legal_moves()[0];
        (position.clone(), Record::new(&position, mv, 7))
    }

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
            let (position, record) = packed(fen);
            assert_eq!(setup(&record.position().unwrap()), setup(&position), "{fen}");
        }
    }

    #[test]
    fn every_legal_move_is_found_again() {
        for fen in [
            "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
            "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
            "3n4/P3P2k/8/8/8/8/8/K7 w - - 0 1",
        ] {
            let position = parse_fen(fen).unwrap();
            let legal = position.legal_moves();
            for (i, &mv) in legal.iter().enumerate() {
                let record = Record::new(&position, mv, 0);
                assert_eq!(record.played_among(&legal), Ok(i), "{fen} {mv}");
            }
        }
    }

    #[test]
    fn damage_is_an_error() {
        let (_, record) = packed("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
        let no_role = Record { pieces: [0x70; 16], ..record };
        assert_eq!(no_role.position(), Err(RecordError::Position));
        let crowded = Record { occupied: u64::MAX, ..record };
        assert_eq!(crowded.position(), Err(RecordError::Position));
        let nothing = Record::zeroed();
        assert_eq!(nothing.position(), Err(RecordError::Position));
        let nowhere = Played { from: 0, to: 63, promotion: 0 };
        let legal = record.position().unwrap().legal_moves();
        let stray = Record { played: nowhere, ..record };
        assert_eq!(stray.played_among(&legal), Err(RecordError::Move));
    }
}
