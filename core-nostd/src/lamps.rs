//! The 64 lamps of a chessboard: colours by what they mean, and a frame of them.
//!
//! A frame is written as 71 characters: the ranks from the eighth down, parted by `/` as in a FEN,
//! each square the letter of its colour, `.` where it is dark.
use core::fmt::{self, Write as _};

use shakmaty::{Bitboard, Square};

/// What a lamp shows. Four colours grade moves; the others lead the hand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Colour {
    /// Dark.
    #[default]
    Off,
    /// Guidance without a judgement: a piece that was lifted, a piece to put here.
    White,
    /// A move that is best, or as good.
    Green,
    /// A move that is a little worse.
    Yellow,
    /// A move that gives something away.
    Orange,
    /// A move that loses much; a piece where none belongs.
    Red,
    /// The opponent's move, to be carried out: its squares.
    Blue,
    /// A question: which piece, which of these squares.
    Violet,
}

impl Colour {
    /// Every colour, in the order of declaration.
    pub const ALL: [Colour; 8] = [
        Colour::Off,
        Colour::White,
        Colour::Green,
        Colour::Yellow,
        Colour::Orange,
        Colour::Red,
        Colour::Blue,
        Colour::Violet,
    ];

    /// Its letter in a frame's text.
    pub const fn letter(self) -> char {
        match self {
            Colour::Off => '.',
            Colour::White => 'w',
            Colour::Green => 'g',
            Colour::Yellow => 'y',
            Colour::Orange => 'o',
            Colour::Red => 'r',
            Colour::Blue => 'b',
            Colour::Violet => 'v',
        }
    }

    /// The colour of a letter.
    pub fn from_letter(letter: char) -> Option<Self> {
        Colour::ALL.into_iter().find(|colour| colour.letter() == letter)
    }

    /// Red, green and blue, each from 0 to 255, for a lamp that mixes them.
    pub const fn rgb(self) -> [u8; 3] {
        match self {
            Colour::Off => [0, 0, 0],
            Colour::White => [255, 255, 255],
            Colour::Green => [0, 255, 0],
            Colour::Yellow => [255, 200, 0],
            Colour::Orange => [255, 80, 0],
            Colour::Red => [255, 0, 0],
            Colour::Blue => [0, 0, 255],
            Colour::Violet => [160, 0, 255],
        }
    }
}

/// A colour for each square, a1 first and h8 last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Frame([Colour; 64]);

impl Default for Frame {
    fn default() -> Self {
        Frame::DARK
    }
}

impl Frame {
    /// All lamps off.
    pub const DARK: Frame = Frame([Colour::Off; 64]);

    /// The colour of a square.
    pub fn get(&self, square: Square) -> Colour {
        self.0.get(usize::from(square)).copied().unwrap_or_default()
    }

    /// Lights a square.
    pub fn set(&mut self, square: Square, colour: Colour) {
        if let Some(lamp) = self.0.get_mut(usize::from(square)) {
            *lamp = colour;
        }
    }

    /// Lights each of the squares.
    pub fn paint(&mut self, squares: Bitboard, colour: Colour) {
        for (square, lamp) in Square::ALL.into_iter().zip(&mut self.0) {
            if squares.contains(square) {
                *lamp = colour;
            }
        }
    }

    /// Each square with its colour, a1 first.
    pub fn iter(&self) -> impl Iterator<Item = (Square, Colour)> + '_ {
        Square::ALL.into_iter().zip(self.0)
    }

    /// The squares whose lamps are on.
    pub fn lit(&self) -> Bitboard {
        self.squares(|colour| colour != Colour::Off)
    }

    /// The squares of one colour.
    pub fn of(&self, colour: Colour) -> Bitboard {
        self.squares(|other| other == colour)
    }

    fn squares(&self, is_wanted: impl Fn(Colour) -> bool) -> Bitboard {
        self.iter().filter(|&(_, colour)| is_wanted(colour)).fold(
            Bitboard::EMPTY,
            |mut squares, (square, _)| {
                squares.add(square);
                squares
            },
        )
    }

    /// Reads a frame's text; `None` for any other.
    pub fn parse(text: &str) -> Option<Self> {
        let mut frame = Frame::DARK;
        // Not by the library's search, which no compiler knows not to panic.
        let mut ranks = text.as_bytes().split(|&byte| byte == b'/');
        for rank in (0..8u32).rev() {
            let mut letters = ranks.next()?.iter().map(|&byte| char::from(byte));
            for file in 0..8u32 {
                let square = Square::try_from(rank * 8 + file).ok()?;
                frame.set(square, Colour::from_letter(letters.next()?)?);
            }
            if letters.next().is_some() {
                return None;
            }
        }
        ranks.next().is_none().then_some(frame)
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, rank) in self.0.chunks(8).rev().enumerate() {
            if number > 0 {
                f.write_char('/')?;
            }
            rank.iter().try_for_each(|colour| f.write_char(colour.letter()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString as _;

    #[test]
    fn letters_and_colours_are_one_to_one() {
        for colour in Colour::ALL {
            assert_eq!(Colour::from_letter(colour.letter()), Some(colour));
        }
        assert_eq!(Colour::from_letter('x'), None);
    }

    #[test]
    fn a_frame_reads_like_a_fen() {
        let mut frame = Frame::DARK;
        frame.set(Square::E2, Colour::Blue);
        frame.set(Square::E4, Colour::Green);
        frame.paint(Bitboard::from(Square::A8) | Bitboard::from(Square::H1), Colour::Red);
        let text =
            "r......./......../......../......../....g.../......../....b.../.......r".to_string();
        assert_eq!(frame.to_string(), text);
        assert_eq!(Frame::parse(&text), Some(frame));
        assert_eq!(frame.get(Square::E4), Colour::Green);
        assert_eq!(frame.of(Colour::Blue), Bitboard::from(Square::E2));
        assert_eq!(frame.lit().count(), 4);
        assert_eq!(frame.iter().filter(|(_, colour)| *colour == Colour::Red).count(), 2);
    }

    #[test]
    fn other_texts_are_no_frame() {
        let dark = Frame::DARK.to_string();
        assert_eq!(Frame::parse(&dark), Some(Frame::DARK));
        for text in ["", "........", &dark[1..], &dark.replacen('.', "x", 1), &(dark.clone() + "/")]
        {
            assert_eq!(Frame::parse(text), None, "{text}");
        }
    }
}
