//! A board in a terminal: men, and lamps as the colours of their squares.
use std::fmt::Write as _;

use kibitzer_core::lamps::{Colour, Frame};
use kibitzer_core::shakmaty::{Bitboard, Chess, File, Position as _, Rank, Role, Square};

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

/// Pixels of a square, and of the margin around the board.
const SQUARE: u32 = 48;
const MARGIN: u32 = 24;

/// The same as a picture, an SVG file's text, with what the board says below it.
pub fn picture(
    position: &Chess,
    occupied: Bitboard,
    lamps: &Frame,
    signal: bool,
    message: &str,
) -> String {
    let (width, height) = (8 * SQUARE + 2 * MARGIN, 8 * SQUARE + 3 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" \
         text-anchor=\"middle\"><rect width=\"100%\" height=\"100%\" fill=\"#3b2a1e\"/>\n"
    );
    for square in Square::ALL {
        let (file, rank) = (square.file() as u32, 7 - square.rank() as u32);
        let (x, y) = (MARGIN + file * SQUARE, MARGIN + rank * SQUARE);
        let wood = if square.is_dark() { "#a57a55" } else { "#e8cfa8" };
        let _ = write!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{SQUARE}\" height=\"{SQUARE}\" fill=\"{wood}\"/>"
        );
        let lamp = lamps.get(square);
        if lamp != Colour::Off {
            let [red, green, blue] = lamp.rgb();
            let _ = write!(
                svg,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"8\" \
                 fill=\"rgb({red},{green},{blue})\" fill-opacity=\"0.75\"/>",
                x + 3,
                y + 3,
                SQUARE - 6,
                SQUARE - 6
            );
        }
        let piece = position.board().piece_at(square).filter(|_| occupied.contains(square));
        let man = match piece {
            Some(piece) => glyph(piece.role, piece.color.is_white()),
            None if occupied.contains(square) => '?',
            None => continue,
        };
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" font-size=\"38\">{man}</text>",
            x + SQUARE / 2,
            y + SQUARE * 13 / 16
        );
    }
    for (place, file) in (0u32..).zip(File::ALL) {
        let middle = MARGIN + place * SQUARE + SQUARE / 2;
        let name = file.char();
        let rank = 8 - place;
        let _ = write!(
            svg,
            "<text x=\"{middle}\" y=\"{}\" font-size=\"13\" fill=\"#fff\">{name}</text>\
             <text x=\"{}\" y=\"{}\" font-size=\"13\" fill=\"#fff\">{rank}</text>",
            MARGIN + 8 * SQUARE + 16,
            MARGIN / 2,
            middle + 5
        );
    }
    let light = if signal { "#ff3030" } else { "#552020" };
    let _ = writeln!(
        svg,
        "<circle cx=\"{}\" cy=\"{}\" r=\"6\" fill=\"{light}\"/>\
         <text x=\"{}\" y=\"{}\" font-size=\"15\" fill=\"#fff\">{}</text></svg>",
        width - MARGIN / 2,
        MARGIN / 2,
        width / 2,
        height - MARGIN / 2,
        message.replace('&', "&amp;").replace('<', "&lt;")
    );
    svg
}

/// A man's sign.
const fn glyph(role: Role, is_white: bool) -> char {
    match (role, is_white) {
        (Role::King, true) => '♔',
        (Role::Queen, true) => '♕',
        (Role::Rook, true) => '♖',
        (Role::Bishop, true) => '♗',
        (Role::Knight, true) => '♘',
        (Role::Pawn, true) => '♙',
        (Role::King, false) => '♚',
        (Role::Queen, false) => '♛',
        (Role::Rook, false) => '♜',
        (Role::Bishop, false) => '♝',
        (Role::Knight, false) => '♞',
        (Role::Pawn, false) => '♟',
    }
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
        let svg = picture(&position, occupied, &lamps, true, "a < b");
        assert_eq!(svg.matches("<rect").count(), 1 + 64 + 1);
        assert_eq!(svg.matches('♟').count(), 8);
        assert!(svg.contains("a &lt; b"));
    }
}
