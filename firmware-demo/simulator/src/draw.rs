//! A board in a terminal: men, and lamps as the colours of their squares.
use std::fmt::Write as _;

use kibitzer_core::lamps::{Colour, Frame};
use kibitzer_core::shakmaty::{Bitboard, Chess, File, Position as _, Rank, Square};

/// The background of a square, as xterm's 256 colours number it.
const fn background(colour: Colour, is_dark: bool) -> u8 {
    match colour {
        Colour::Off if is_dark => 240,
        Colour::Off => 246,
        Colour::White => 255,
        Colour::Green => 40,
        Colour::Yellow => 226,
        Colour::Orange => 208,
        Colour::Red => 196,
        Colour::Blue => 33,
        Colour::Violet => 135,
    }
}

/// The board as lines: a man where the game has one and the contact is closed, `?` where a contact
/// is closed that should not be, `_` where one should be and is not. With `colours` the lamps are
/// backgrounds, else letters after the men.
pub fn board(
    position: &Chess,
    occupied: Bitboard,
    lamps: &Frame,
    signal: bool,
    colours: bool,
) -> String {
    let mut text = String::new();
    for rank in Rank::ALL.into_iter().rev() {
        let _ = write!(text, "{} ", rank.char());
        for file in File::ALL {
            let square = Square::from_coords(file, rank);
            let piece = position.board().piece_at(square);
            let man = match (piece, occupied.contains(square)) {
                (Some(piece), true) => piece.char(),
                (Some(_), false) => '_',
                (None, true) => '?',
                (None, false) => ' ',
            };
            let colour = lamps.get(square);
            if colours {
                let shade = background(colour, square.is_dark());
                let ink = if piece.is_some_and(|piece| piece.color.is_white()) { 231 } else { 16 };
                // White men on bright lamps would not be seen.
                let ink = if matches!(shade, 226 | 255) && ink == 231 { 21 } else { ink };
                let _ = write!(text, "\x1b[1;38;5;{ink};48;5;{shade}m {man} \x1b[0m");
            } else {
                let man = if man == ' ' { '.' } else { man };
                let lamp = if colour == Colour::Off { ' ' } else { colour.letter() };
                let _ = write!(text, " {man}{lamp}");
            }
        }
        text.push('\n');
    }
    text.push_str("  ");
    for file in File::ALL {
        let _ = write!(text, " {} ", file.char());
    }
    text.push_str(if signal { " (!)\n" } else { "\n" });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lamps_and_men_are_drawn() {
        let mut lamps = Frame::DARK;
        lamps.set(Square::E4, Colour::Green);
        let position = Chess::default();
        let occupied = position.board().occupied().toggled(Square::E2).with(Square::A5);
        let text = board(&position, occupied, &lamps, true, false);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "8  r  n  b  q  k  b  n  r ");
        assert_eq!(lines[3], "5  ?  .  .  .  .  .  .  . ");
        assert_eq!(lines[4], "4  .  .  .  .  .g .  .  . ");
        assert_eq!(lines[6], "2  P  P  P  P  _  P  P  P ");
        assert_eq!(lines[8], "   a  b  c  d  e  f  g  h  (!)");
        assert!(board(&position, occupied, &lamps, true, true).contains("48;5;40m"));
    }
}
