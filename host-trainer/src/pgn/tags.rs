//! What a game's tags say of it.
use std::{borrow::Cow, str::FromStr};

use super::ending::{Ending, Marker};

/// A day, a month or a year: what is not known is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// The first day that it may mean.
    pub fn first(self) -> Date {
        Date { month: self.month.max(1), day: self.day.max(1), ..self }
    }

    /// The last day that it may mean; the 31st of any month.
    pub fn last(self) -> Date {
        let or = |known: u8, last| if known == 0 { last } else { known };
        Date { month: or(self.month, 12), day: or(self.day, 31), ..self }
    }

    /// Year, month and day as one number, as in 20190630.
    pub fn number(self) -> u32 {
        (u32::from(self.year) * 100 + u32::from(self.month)) * 100 + u32::from(self.day)
    }

    /// The date whose [`Date::number`] this is; `None` for 0.
    pub fn from_number(number: u32) -> Option<Date> {
        let year = u16::try_from(number / 10_000).ok().filter(|_| number > 0)?;
        Some(Date { year, month: (number / 100 % 100) as u8, day: (number % 100) as u8 })
    }
}

impl FromStr for Date {
    type Err = String;

    /// Reads `2019`, `2019.06`, `2019.06.30` and `2019.??.??`, with dots or dashes.
    fn from_str(text: &str) -> Result<Date, String> {
        let wrong = || "give a date as 2019, 2019.06 or 2019.06.30".to_string();
        let mut parts = text.split(['.', '-']);
        let year = parts.next().and_then(|year| year.parse().ok()).ok_or_else(wrong)?;
        let mut next = |most: u8| match parts.next() {
            None | Some("??" | "?") => Ok(0),
            Some(part) => part.parse().ok().filter(|n| (1..=most).contains(n)).ok_or_else(wrong),
        };
        let (month, day) = (next(12)?, next(31)?);
        // A day without its month says nothing.
        Ok(Date { year, month, day: if month == 0 { 0 } else { day } })
    }
}

/// The tags that filters ask about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tags {
    /// The players' ratings, White's first.
    pub elo: [Option<u16>; 2],
    /// When it was played.
    pub date: Option<Date>,
    /// Seconds that a player has for 40 moves.
    pub time: Option<u32>,
    /// How it ended.
    pub result: Option<Ending>,
    /// The opening's code and name, what there is of them.
    pub opening: String,
}

impl Tags {
    /// Takes in one tag; what cannot be read counts as missing.
    pub(super) fn add(&mut self, name: &[u8], value: &str) {
        match name {
            b"WhiteElo" => self.elo[0] = value.trim().parse().ok().filter(|&elo| elo > 0),
            b"BlackElo" => self.elo[1] = value.trim().parse().ok().filter(|&elo| elo > 0),
            b"UTCDate" | b"Date" => {
                // Whichever comes first: sites that write both mean the same day.
                self.date = self.date.or(value.trim().parse().ok());
            }
            b"ECO" | b"Opening" if value != "?" => {
                if !self.opening.is_empty() {
                    self.opening.push(' ');
                }
                self.opening.push_str(value);
            }
            b"Result" => {
                self.result = match Marker::of(value.trim().as_bytes()) {
                    Some(Marker::Ended(ending)) => Some(ending),
                    _ => None,
                }
            }
            b"TimeControl" => self.time = seconds(value.trim()),
            _ => {}
        }
    }
}

/// A tag of a line, and what follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// What stands between the quotes, as it is written; `None` if there are none.
    pub value: Option<&'a [u8]>,
    /// The rest of the line.
    pub rest: &'a [u8],
}

impl Tag<'_> {
    /// The value; what is no text is replaced.
    pub(super) fn text(&self) -> Cow<'_, str> {
        let text = String::from_utf8_lossy(self.value.unwrap_or_default());
        if text.contains('\\') {
            text.replace("\\\"", "\"").replace("\\\\", "\\").into()
        } else {
            text
        }
    }
}

/// The tag with which a line starts; without quotes, all up to `]` or the line's end is its name.
pub(super) fn tag(line: &[u8]) -> Option<Tag<'_>> {
    let inside = line.strip_prefix(b"[")?.trim_ascii_start();
    let end = inside.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'));
    let (name, rest) = inside.split_at(end.filter(|&end| end > 0)?);
    let Some(quoted) = rest.trim_ascii_start().strip_prefix(b"\"") else {
        let end = memchr::memchr(b']', rest).map_or(rest.len(), |end| end + 1);
        return Some(Tag { name, value: None, rest: &rest[end..] });
    };
    let mut escaped = false;
    let closes = |&byte: &u8| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    };
    let end = quoted.iter().position(closes).unwrap_or(quoted.len());
    let (value, rest) = quoted.split_at(end);
    let rest = rest.strip_prefix(b"\"").unwrap_or(rest).trim_ascii_start();
    let rest = rest.strip_prefix(b"]").unwrap_or(rest).trim_ascii_start();
    Some(Tag { name, value: Some(value), rest })
}

/// Seconds for 40 moves by the first period of a TimeControl tag: `180+2`, `40/7200:3600`,
/// `*300`, `900`; `?` and `-` say nothing.
fn seconds(control: &str) -> Option<u32> {
    const MOVES: u32 = 40;
    let period = control.split(':').next()?.trim_start_matches('*');
    let (moves, rest) = match period.split_once('/') {
        Some((moves, rest)) => (Some(moves.parse::<u32>().ok().filter(|&m| m > 0)?), rest),
        None => (None, period),
    };
    let (base, increment) = rest.split_once('+').unwrap_or((rest, "0"));
    let (base, increment): (u32, u32) = (base.parse().ok()?, increment.parse().ok()?);
    let base = match moves {
        Some(moves) => (u64::from(base) * u64::from(MOVES) / u64::from(moves)).try_into().ok()?,
        None => base,
    };
    base.checked_add(increment.checked_mul(MOVES)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_as_exact_as_they_are_known() {
        let date = |text: &str| text.parse::<Date>().unwrap();
        let span = |text: &str| (date(text).first().number(), date(text).last().number());
        assert_eq!(span("2019.06.30"), (20_190_630, 20_190_630));
        assert_eq!(span("2019.06"), (20_190_601, 20_190_631));
        assert_eq!(span("2019.??.??"), (20_190_101, 20_191_231));
        assert_eq!(span("2019-02-03"), (20_190_203, 20_190_203));
        for wrong in ["????.??.??", "", "2019.13", "2019.06.32", "June"] {
            assert!(wrong.parse::<Date>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn tags_are_cut_out_of_their_lines() {
        let parts = |line: &str| {
            let found = tag(line.as_bytes())?;
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            Some((
                text(found.name),
                found.value.map(|_| found.text().into_owned()),
                text(found.rest),
            ))
        };
        let found = |name: &str, value: Option<&str>, rest: &str| {
            Some((name.to_owned(), value.map(str::to_owned), rest.to_owned()))
        };
        assert_eq!(parts("[White \"A \\\"B\\\" C\\\\\"]"), found("White", Some("A \"B\" C\\"), ""));
        assert_eq!(parts("[ECO \"\"] [Date \"?\"]"), found("ECO", Some(""), "[Date \"?\"]"));
        assert_eq!(parts("[Site \"cut h"), found("Site", Some("cut h"), ""));
        assert_eq!(parts("[FEN 8/8 w - -] 1. e4"), found("FEN", None, " 1. e4"));
        assert_eq!(parts("[Event"), None);
        for none in ["[%clk 0:01]", "[]", "1. e4", "", "["] {
            assert_eq!(parts(none), None, "{none}");
        }
    }

    #[test]
    fn time_controls_become_seconds_for_forty_moves() {
        for (control, expected) in [
            ("180+2", Some(260)),
            ("900", Some(900)),
            ("40/7200:20/3600:900+30", Some(7200)),
            ("1/86400", Some(3_456_000)),
            ("*300", Some(300)),
            ("-", None),
            ("?", None),
            ("0/5", None),
            ("4294967295+9", None),
        ] {
            assert_eq!(seconds(control), expected, "{control}");
        }
    }
}
