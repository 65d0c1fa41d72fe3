//! What an app tells a board.
use shakmaty::{Bitboard, Chess, Color, Square, uci::UciMove};

/// What an app wants of the board.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // there is one at a time, and no heap
pub enum Order {
    /// A game begins in this position. To be answered by
    /// [`Report::Sync`](super::Report::Sync) or [`Report::Unsync`](super::Report::Unsync).
    Begin(Chess),
    /// The color that is played at the board in the next game; `None`: both.
    Side(Option<Color>),
    /// A move of the app's, to be carried out on the board. Its legality is for the board to check.
    Move(UciMove),
    /// The app accepts what the board asked.
    Accepted(Asked),
    /// The app refuses what the board asked; a move is to be put back.
    Refused(Asked),
    /// The app accepts the move that the board asked about, which becomes this one, with a piece to
    /// promote to.
    Promoted(UciMove),
    /// The app takes this move back, the last one.
    Undo(UciMove),
    /// The app takes moves back, as far as this position.
    Restore(Chess),
    /// The move that led to the position of [`Order::Begin`], or to the one after [`Order::Undo`].
    LastMove(UciMove),
    /// The king that stands in check.
    Check(Square),
    /// The app's side offers a draw. To be answered by
    /// [`Report::DrawAnswer`](super::Report::DrawAnswer).
    DrawOffer,
    /// The game ended.
    End(End),
    /// The app wants to know what stands on the board. To be answered by
    /// [`Report::State`](super::Report::State).
    TellState,
    /// The app wants all squares. To be answered by [`Report::Dump`](super::Report::Dump).
    Dump,
    /// The app lights lamps, and puts the others out.
    Lamps(LampsOrder),
    /// The app starts anew: lamps off.
    Reset,
}

/// What a board asked of an app that keeps the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Whether a move is played.
    Move(UciMove),
    /// Whether a move is taken back.
    Undo(UciMove),
    /// Whether the game is drawn.
    Draw,
}

/// Lamps that an app lights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LampsOrder {
    /// The squares that are lit.
    pub lit: Bitboard,
    /// Once and off again, to confirm something.
    pub once: bool,
    /// Brightness from 1 to 4, 0 where the protocol has none.
    pub level: u8,
}

impl End {
    /// Whether the game is drawn.
    pub const fn is_draw(self) -> bool {
        match self {
            End::Stalemate
            | End::Draw
            | End::DrawOffer
            | End::ThreefoldRepetition
            | End::FiftyMove
            | End::InsufficientMaterial
            | End::DeadPosition => true,
            End::Undefined | End::Checkmate | End::Timeout | End::Resign | End::Abort => false,
        }
    }
}

/// Why a game ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum End {
    /// For a reason that the protocol has no word for.
    Undefined,
    /// The side to move is mated.
    Checkmate,
    /// The side to move has no move.
    Stalemate,
    /// A draw, without a reason.
    Draw,
    /// A draw by agreement.
    DrawOffer,
    /// A position came for the third time.
    ThreefoldRepetition,
    /// Fifty moves without a capture or a pawn's move.
    FiftyMove,
    /// Neither side can mate.
    InsufficientMaterial,
    /// No sequence of moves leads to a mate.
    DeadPosition,
    /// The time of one side is up.
    Timeout,
    /// One side gave up.
    Resign,
    /// The game was broken off.
    Abort,
}
