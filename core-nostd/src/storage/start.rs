//! A position in 42 bytes: four bits a square from a1 on, then the side to move and the rights to
//! castle, the square behind a pawn that went two steps, both counters of moves.
use core::num::NonZeroU32;

use shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, EnPassantMode, FromSetup as _, Piece,
    Position as _, PositionError, Role, Setup, Square,
};

/// Bytes of a position.
pub const BYTES: usize = 42;
/// A packed position.
pub type Packed = [u8; BYTES];

/// Set in the four bits of Black's men, and among the rights where Black is to move.
const BLACK: u8 = 8;
const BLACK_TO_MOVE: u8 = 16;
/// Where rooks stand that may castle, in the order of the rights' bits.
const ROOKS: [Square; 4] = [Square::A1, Square::H1, Square::A8, Square::H8];
/// No pawn went two steps.
const NO_SQUARE: u8 = 64;

/// Packs a position.
pub fn pack(position: &Chess) -> Packed {
    let setup = position.to_setup(EnPassantMode::Always);
    let man = |square| setup.board.piece_at(square).map_or(0, code);
    let pairs = Square::ALL.chunks_exact(2).map(|pair| {
        pair.iter().enumerate().fold(0, |byte, (place, &square)| byte | man(square) << (4 * place))
    });
    let turn = if setup.turn.is_black() { BLACK_TO_MOVE } else { 0 };
    let rights = ROOKS.iter().enumerate().fold(turn, |bits, (place, &rook)| {
        bits | u8::from(setup.castling_rights.contains(rook)) << place
    });
    let passed = setup.ep_square.map_or(NO_SQUARE, |square| square as u8);
    let counters = [setup.halfmoves, setup.fullmoves.get()].map(u32::to_le_bytes);
    let all = pairs.chain([rights, passed]).chain(counters.into_iter().flatten());
    let mut packed = [0; BYTES];
    packed.iter_mut().zip(all).for_each(|(to, byte)| *to = byte);
    packed
}

/// The position that was packed so, if it is one that the rules allow.
pub fn unpack(packed: &Packed) -> Option<Chess> {
    let (men, rest) = packed.split_at_checked(32)?;
    let &[rights, passed, h0, h1, h2, h3, f0, f1, f2, f3] = rest else { return None };
    let mut board = Board::empty();
    let codes = men.iter().flat_map(|byte| [byte & 15, byte >> 4]);
    for (square, code) in Square::ALL.into_iter().zip(codes) {
        if code > 0 {
            board.set_piece_at(square, man(code)?);
        }
    }
    let mut setup = Setup::empty();
    setup.board = board;
    setup.turn = Color::from_white(rights & BLACK_TO_MOVE == 0);
    setup.castling_rights = ROOKS
        .into_iter()
        .enumerate()
        .filter(|(place, _)| rights >> place & 1 > 0)
        .fold(Bitboard::EMPTY, |rights, (_, rook)| rights.with(rook));
    if passed != NO_SQUARE {
        setup.ep_square = Some(Square::try_from(u32::from(passed)).ok()?);
    }
    setup.halfmoves = u32::from_le_bytes([h0, h1, h2, h3]);
    setup.fullmoves = NonZeroU32::new(u32::from_le_bytes([f0, f1, f2, f3]))?;
    Chess::from_setup(setup, CastlingMode::Standard)
        // A game may have come to one that no FEN may begin with.
        .or_else(PositionError::ignore_impossible_check)
        .ok()
}

fn code(piece: Piece) -> u8 {
    piece.role as u8 | if piece.color.is_black() { BLACK } else { 0 }
}

fn man(code: u8) -> Option<Piece> {
    let role = Role::try_from(u32::from(code & !BLACK)).ok()?;
    Some(Piece { role, color: Color::from_white(code & BLACK == 0) })
}
