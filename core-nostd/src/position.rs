//! Positions: a thin facade over [`shakmaty`], whose rules we trust.
use core::fmt;

use shakmaty::{
    Bitboard, CastlingMode, Chess, Color, EnPassantMode, FromSetup as _, Move, Position as _,
    PositionError, PositionErrorKinds, fen::ParseFenError,
};

use crate::{
    fen,
    moves::{castling_squares, en_passant_victim},
};

/// Why a FEN was refused. Its `Display` names the field and the mend.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum FenError {
    /// The text is not a FEN.
    Syntax(#[cfg_attr(feature = "defmt", defmt(Display2Format))] ParseFenError),
    /// The board is empty.
    EmptyBoard,
    /// A king is missing.
    MissingKing(#[cfg_attr(feature = "defmt", defmt(Debug2Format))] Color),
    /// A side has more than one king.
    TooManyKings,
    /// A pawn stands on the first or eighth rank.
    PawnOnBackRank,
    /// The side that just moved left its king in check.
    OppositeCheck,
    /// The checks or the material cannot arise in a game.
    Unreachable,
}

impl fmt::Display for FenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            FenError::Syntax(error) => return write_syntax(error, f),
            FenError::EmptyBoard => "the board is empty; place both kings at least",
            FenError::MissingKing(Color::White) => "White has no king; add one K to the board",
            FenError::MissingKing(Color::Black) => "Black has no king; add one k to the board",
            FenError::TooManyKings => "a side has more than one king; leave one each",
            FenError::PawnOnBackRank => "a pawn stands on rank 1 or 8; move it or promote it",
            FenError::OppositeCheck => {
                "the side not to move is in check; check the turn field (w or b)"
            }
            FenError::Unreachable => {
                "the checks or the piece counts cannot arise in a game; check the board field"
            }
        };
        f.write_str(text)
    }
}

/// Names the FEN field at fault and what it should hold.
fn write_syntax(error: &ParseFenError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(match error {
        ParseFenError::InvalidBoard => {
            "the board field is broken; it needs eight ranks of eight squares, as in 8/8/8/8/8/8/8/8"
        }
        ParseFenError::InvalidTurn => "the turn field is broken; it must be w or b",
        ParseFenError::InvalidCastling => "the castling field is broken; use KQkq letters or -",
        ParseFenError::InvalidEpSquare => "the en passant field is broken; use a square or -",
        ParseFenError::InvalidHalfmoveClock => "the halfmove clock is broken; use a number",
        ParseFenError::InvalidFullmoves => "the move number is broken; use a number",
        _ => "not a FEN; expected board, turn, castling, en passant, halfmove clock, move number",
    })
}

/// The position after `mv`, a legal move.
#[inline(never)] // one copy in flash: most of Viveka plays moves
pub(crate) fn after(position: &Chess, mv: Move) -> Chess {
    if !matches!(mv, Move::Normal { .. }) {
        return set_up_after(position, mv);
    }
    let mut next = position.clone();
    next.play_unchecked(mv);
    next
}

/// The position after a move of two men, set up anew: the other way may panic, for all that a
/// compiler knows. Such moves are rare.
#[inline(never)]
fn set_up_after(position: &Chess, mv: Move) -> Chess {
    let us = position.turn();
    let mut setup = position.to_setup(EnPassantMode::Always);
    setup.ep_square = None;
    setup.turn = !us;
    setup.halfmoves = setup.halfmoves.saturating_add(1);
    if us.is_black() {
        setup.fullmoves = setup.fullmoves.saturating_add(1);
    }
    let board = &mut setup.board;
    match mv {
        Move::Castle { king, rook } => {
            let (king_to, rook_to) = castling_squares(king, rook, us);
            board.discard_piece_at(king);
            board.discard_piece_at(rook);
            board.set_piece_at(rook_to, us.rook());
            board.set_piece_at(king_to, us.king());
            setup.castling_rights &= !Bitboard::from_rank(us.backrank());
        }
        Move::EnPassant { from, to } => {
            board.discard_piece_at(en_passant_victim(from, to));
            board.discard_piece_at(from);
            board.set_piece_at(to, us.pawn());
            setup.halfmoves = 0;
        }
        // Others are played above, or do not exist in standard chess.
        Move::Normal { .. } | Move::Put { .. } => {}
    }
    Chess::from_setup(setup, CastlingMode::Standard)
        // En passant may uncover what no other move can.
        .or_else(PositionError::ignore_impossible_check)
        .unwrap_or_else(|_| position.clone())
}

/// Reads a FEN. Castling rights and en passant squares that the board contradicts are dropped,
/// as python-chess and most GUIs do; everything else that is illegal is an error.
pub fn parse_fen(text: &str) -> Result<Chess, FenError> {
    let setup = fen::read(text.trim().as_bytes()).map_err(FenError::Syntax)?;
    let board = setup.board.clone();
    Chess::from_setup(setup, CastlingMode::Standard)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_invalid_ep_square)
        .map_err(|error| {
            let kinds = error.kinds();
            let missing = Color::ALL.into_iter().find(|&c| board.king_of(c).is_none());
            if kinds.contains(PositionErrorKinds::EMPTY_BOARD) {
                FenError::EmptyBoard
            } else if kinds.contains(PositionErrorKinds::TOO_MANY_KINGS) {
                FenError::TooManyKings
            } else if let Some(color) = missing {
                FenError::MissingKing(color)
            } else if kinds.contains(PositionErrorKinds::PAWNS_ON_BACKRANK) {
                FenError::PawnOnBackRank
            } else if kinds.contains(PositionErrorKinds::OPPOSITE_CHECK) {
                FenError::OppositeCheck
            } else {
                FenError::Unreachable
            }
        })
}

/// A position and one of its legal moves, for tests.
#[cfg(test)]
pub(crate) fn parse_move(fen: &str, uci: &str) -> (Chess, Move) {
    let position = parse_fen(fen).expect("a legal position");
    let uci: shakmaty::uci::UciMove = uci.parse().expect("a move in UCI");
    let mv = uci.to_move(&position).expect("a legal move");
    (position, mv)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_has_its_own_error() {
        for (fen, error) in [
            ("8/8/8/8/8/8/8/8 w - - 0 1", FenError::EmptyBoard),
            ("8/8/8/8/8/8/8/4K3 w - - 0 1", FenError::MissingKing(Color::Black)),
            ("4k3/8/8/8/8/8/8/8 w - - 0 1", FenError::MissingKing(Color::White)),
            ("4k3/8/8/8/8/8/8/K3K3 w - - 0 1", FenError::TooManyKings),
            ("P3k3/8/8/8/8/8/8/4K3 w - - 0 1", FenError::PawnOnBackRank),
            ("4k3/8/8/8/8/8/8/4RK2 w - - 0 1", FenError::OppositeCheck),
        ] {
            assert_eq!(parse_fen(fen).unwrap_err(), error, "{fen}");
        }
        assert!(matches!(parse_fen("rubbish"), Err(FenError::Syntax(_))));
        assert!(matches!(parse_fen(""), Err(FenError::Syntax(_))));
    }

    #[test]
    fn contradicted_rights_are_dropped() {
        let position = parse_fen("4k3/8/8/8/8/8/8/4K3 w KQkq e6 0 1").unwrap();
        assert!(position.castles().is_empty());
        assert_eq!(position.maybe_ep_square(), None);
    }
}
