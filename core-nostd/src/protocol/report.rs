//! What a board tells an app.
use core::fmt::{self, Write as _};

use shakmaty::{Bitboard, Chess, File, Position as _, Rank, Square, uci::UciMove};

use super::Full;

/// What happened at the board. A protocol that has no word for it says so.
#[derive(Debug, Clone, Copy)]
pub enum Report<'a> {
    /// The board stands as the app's game does. Answers [`Order::Begin`](super::Order::Begin).
    Sync(View<'a>),
    /// The board stands otherwise. Answers [`Order::Begin`](super::Order::Begin), and tells of a
    /// board in disorder.
    Unsync(View<'a>),
    /// What stands on the board changed. Answers [`Order::TellState`](super::Order::TellState).
    State(View<'a>),
    /// The player moved: castling as the king's two steps; with a piece to promote to where the board
    /// knows it. The app accepts or refuses it.
    Move(UciMove),
    /// The player took the last move back. The app accepts or refuses it.
    Undo(UciMove),
    /// The app's move was carried out on the board, or its move was taken back there.
    Moved,
    /// The player gives up.
    Resign,
    /// The player offers a draw. The app accepts or refuses it.
    DrawOffer,
    /// Whether the player takes the app's offer of a draw.
    DrawAnswer(bool),
    /// An order cannot be carried out, in a few words (80 bytes at most).
    Error(&'a str),
    /// The occupied squares, settled. Protocols that speak of squares tell what changed since they
    /// told last.
    Occupancy(Bitboard),
    /// All squares. Answers [`Order::Dump`](super::Order::Dump).
    Dump(Bitboard),
}

/// Why a report was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Unsent {
    /// There is no room for it yet. Try again.
    Full,
    /// The app has not yet answered what it was asked before.
    Unanswered,
    /// The protocol has no such message, or not now, or the app did not ask for it.
    NotWanted,
    /// The app has not asked for what would allow it: it is not to stand.
    NotAllowed,
    /// The text is too long for a message.
    TooLong,
}

impl From<Full> for Unsent {
    fn from(_: Full) -> Self {
        Unsent::Full
    }
}

/// What a board sees, and what it knows of it.
///
/// As text, the first two fields of a FEN, with `?` for a piece that is not known.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The squares with something on them.
    pub occupied: Bitboard,
    /// Those of them on which the piece of `position` stands, as far as is known. Sensors that see
    /// no more than occupied or empty know it from the game.
    pub known: Bitboard,
    /// The position of the game.
    pub position: &'a Chess,
}

impl<'a> View<'a> {
    /// A board that stands as the position does.
    pub fn whole(position: &'a Chess) -> Self {
        let occupied = position.board().occupied();
        View { occupied, known: occupied, position }
    }

    /// The letter of what stands on a square; `None` where nothing does.
    fn letter(&self, square: Square) -> Option<char> {
        if !self.occupied.contains(square) {
            return None;
        }
        let piece = self.position.board().piece_at(square);
        let piece = piece.filter(|_| self.known.contains(square));
        Some(piece.map_or('?', |piece| piece.char()))
    }
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rank in Rank::ALL.into_iter().rev() {
            if rank != Rank::Eighth {
                f.write_char('/')?;
            }
            let mut empty = 0u8;
            for file in File::ALL {
                if let Some(letter) = self.letter(Square::from_coords(file, rank)) {
                    write_empty(f, empty)?;
                    f.write_char(letter)?;
                    empty = 0;
                } else {
                    empty = empty.saturating_add(1);
                }
            }
            write_empty(f, empty)?;
        }
        f.write_str(self.position.turn().fold_wb(" w", " b"))
    }
}

fn write_empty(f: &mut fmt::Formatter<'_>, count: u8) -> fmt::Result {
    if count == 0 { Ok(()) } else { write!(f, "{count}") }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString as _;

    #[test]
    fn a_view_reads_like_a_fen() {
        let position = Chess::default();
        let whole = View::whole(&position);
        assert_eq!(whole.to_string(), "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w");
        let occupied = whole.occupied.toggled(Square::E2).with(Square::E4).with(Square::H5);
        let known = Bitboard::from_rank(Rank::First) | Bitboard::from_rank(Rank::Second);
        let view = View { occupied, known, position: &position };
        assert_eq!(view.to_string(), "????????/????????/8/7?/4?3/8/PPPP1PPP/RNBQKBNR w");
        // A square that is known but not in the position is not known after all.
        let view = View { known: Bitboard::FULL, ..view };
        assert_eq!(view.to_string(), "rnbqkbnr/pppppppp/8/7?/4?3/8/PPPP1PPP/RNBQKBNR w");
    }
}
