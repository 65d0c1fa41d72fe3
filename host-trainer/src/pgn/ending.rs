//! How games end.
use std::{fmt, str::FromStr};

use kibitzer_core::shakmaty::Color;

/// How a game ended: who won, or a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending(pub Option<Color>);

impl FromStr for Ending {
    type Err = String;

    fn from_str(text: &str) -> Result<Ending, String> {
        match text {
            "1-0" => Ok(Ending(Some(Color::White))),
            "0-1" => Ok(Ending(Some(Color::Black))),
            "1/2-1/2" => Ok(Ending(None)),
            _ => Err("give 1-0, 0-1 or 1/2-1/2".into()),
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Some(Color::White) => "1-0",
            Some(Color::Black) => "0-1",
            None => "1/2-1/2",
        })
    }
}

/// What stands at the end of a game's moves, and in its Result tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    /// It is over.
    Ended(Ending),
    /// It is broken off, or goes on.
    Open,
}

impl Marker {
    /// What a word says; other dashes, colons and signs for a half will do, as will `1/2` alone.
    pub(super) fn of(word: &[u8]) -> Option<Marker> {
        // Most words are moves, none of which starts so but castling with zeros; or their numbers.
        if word.last() == Some(&b'.') {
            return None;
        }
        if !matches!(word.first()?, b'0' | b'1' | b'*' | 0xc2 | 0xbd) || word.len() > 16 {
            return None;
        }
        if word == b"*" {
            return Some(Marker::Open);
        }
        // In Latin-1 and its Windows kin, the half and the dashes are one byte.
        let latin = || {
            word.iter()
                .map(|&byte| if byte == 0x96 || byte == 0x97 { '-' } else { char::from(byte) })
                .collect()
        };
        let text = std::str::from_utf8(word).map_or_else(|_| latin(), str::to_owned);
        let plain: String =
            text.replace('\u{bd}', "1/2").replace(['\u{2013}', '\u{2014}', '\u{2212}', ':'], "-");
        match plain.as_str() {
            "1/2" => Some(Marker::Ended(Ending(None))),
            plain => plain.parse().ok().map(Marker::Ended),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_in_any_dress() {
        let of = |word: &str| Marker::of(word.as_bytes());
        for (words, ending) in [
            ("1-0 1:0 1\u{2013}0", "1-0"),
            ("0-1 0:1 0\u{2014}1", "0-1"),
            ("1/2-1/2 1/2 \u{bd}-\u{bd} \u{bd} 1/2:1/2 1/2\u{2013}1/2", "1/2-1/2"),
        ] {
            let ending: Ending = ending.parse().unwrap();
            for word in words.split(' ') {
                assert_eq!(of(word), Some(Marker::Ended(ending)), "{word}");
            }
            assert_eq!(ending.to_string().parse(), Ok(ending));
        }
        assert_eq!(of("*"), Some(Marker::Open));
        assert_eq!(Marker::of(b"\xbd\x96\xbd"), of("1/2"));
        for none in ["0-0", "0-0-0", "1", "1.", "12", "", "e4", "1-1", "10", "**"] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
