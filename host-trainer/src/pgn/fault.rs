//! Why a game is left out.
use std::fmt;

use kibitzer_core::position::FenError;

use super::{ending::Ending, filter::Unwanted};
use crate::spelling::Misspelt;

/// Half-moves that a game may have: more are no game, and would not fit a record.
pub(super) const MOST_PLIES: usize = 6000;
/// Characters of a word that are shown.
const SHOWN: usize = 24;

/// Why a game is left out.
#[derive(Debug)]
pub(super) enum Fault {
    /// Another game than chess.
    Variant(String),
    /// A start position that cannot be.
    Fen(FenError),
    /// A start position of Chess960.
    Shuffled,
    /// A FEN tag that is not text.
    FenText,
    /// A tag that decides the game and is broken.
    Tag(&'static str),
    /// A word that is no legal move: the half-moves before it, the word, and what is wrong.
    Move(usize, String, Misspelt),
    /// Its first move has this number.
    Number(String),
    /// No move at all.
    NoMoves,
    /// More moves than a game has.
    TooLong,
    /// A line that does not end.
    Line,
    /// A comment that does not end.
    Comment,
    /// A variation that does not end.
    Variation,
    /// A move after the result.
    AfterEnd(String),
    /// Two results: the tag's, or the one that came first, and that at the end.
    Results(Ending, Ending),
    /// Neither won nor drawn, or broken off.
    NoResult,
    /// The text ends before the game does.
    CutShort,
    /// A sound game that is not asked for.
    Unwanted(Unwanted),
}

impl Fault {
    /// A word that is no legal move.
    pub(super) fn word(plies: usize, word: &[u8], why: Misspelt) -> Fault {
        Fault::Move(plies, shown(word), why)
    }
}

/// A word as it can be shown in one line.
pub(super) fn shown(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(word);
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut shown: String = text.chars().map(clean).take(SHOWN).collect();
    if text.chars().count() > SHOWN {
        shown.push('…');
    }
    shown
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Variant(name) => write!(f, "the variant {name} is not read"),
            Fault::Fen(error) => write!(f, "its FEN tag: {error}"),
            Fault::Shuffled => {
                f.write_str("its FEN tag has castling rights of Chess960, which is not read")
            }
            Fault::FenText => f.write_str("its FEN tag is not text"),
            Fault::Tag(name) => write!(f, "its {name} tag is broken"),
            Fault::Move(plies, word, why) => match why {
                Misspelt::NoMove => write!(f, "{word} after {plies} half-moves is no move"),
                Misspelt::Null => write!(f, "a null move after {plies} half-moves"),
                Misspelt::Illegal => write!(f, "{word} after {plies} half-moves is not legal"),
                Misspelt::Ambiguous => {
                    write!(f, "{word} after {plies} half-moves may be several moves")
                }
            },
            Fault::Number(number) => write!(f, "it starts at move {number}, without a FEN tag"),
            Fault::NoMoves => f.write_str("it has no moves"),
            Fault::TooLong => write!(f, "it has more than {MOST_PLIES} half-moves"),
            Fault::Line => f.write_str("a line of it is longer than a megabyte"),
            Fault::Comment => f.write_str("a comment does not end"),
            Fault::Variation => f.write_str("a variation does not end"),
            Fault::AfterEnd(word) => write!(f, "{word} after its end"),
            Fault::Results(one, other) => write!(f, "it ends {one} and {other}"),
            Fault::NoResult => f.write_str("it ends without 1-0, 0-1 or 1/2-1/2"),
            Fault::CutShort => f.write_str("the text ends before it does"),
            Fault::Unwanted(why) => write!(f, "its {why} is not asked for"),
        }
    }
}
