//! Which games and positions are wanted.
use std::{fmt, str::FromStr};

use kibitzer_core::shakmaty::Color;

use super::{
    ending::Ending,
    tags::{Date, Tags},
};

/// The values from `from` to `to`, both included; what is not said is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range<T> {
    /// The least value.
    pub from: Option<T>,
    /// The greatest value.
    pub to: Option<T>,
}

impl<T: PartialOrd> Range<T> {
    /// Whether `value` lies within.
    pub fn contains(&self, value: &T) -> bool {
        self.from.as_ref().is_none_or(|from| from <= value)
            && self.to.as_ref().is_none_or(|to| value <= to)
    }
}

impl<T: FromStr + PartialOrd> FromStr for Range<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Range<T>, String> {
        let (from, to) = text.split_once("..").unwrap_or((text, ""));
        let end = |text: &str| match text {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| format!("{text} is no such value")),
        };
        let range = Range { from: end(from)?, to: end(to)? };
        match (&range.from, &range.to) {
            (None, None) => Err("give a least value, a greatest or both, as in 5..9".into()),
            (Some(from), Some(to)) if from > to => Err("the range ends before it starts".into()),
            _ => Ok(range),
        }
    }
}

/// What a game must have to be read; the default asks for nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub struct Filter {
    /// Only games of two players rated so, as in 2400.. (or 2400, the same) or 2000..2199.
    #[arg(long, value_name = "FROM..TO")]
    pub elo: Option<Range<u16>>,
    /// Only games played then, as in 2015..2019.06; both ends count. 2015 alone is 2015 and later.
    #[arg(long, value_name = "FROM..TO")]
    pub date: Option<Range<Date>>,
    /// Only games that ended so, as in 1-0,0-1.
    #[arg(long, value_name = "RESULT", value_delimiter = ',')]
    pub result: Vec<Ending>,
    /// Only positions after so many half-moves, as in 8..200.
    #[arg(long, value_name = "FROM..TO")]
    pub ply: Option<Range<u16>>,
    /// Of games whose time control is tagged, only those that give a player so many seconds for
    /// 40 moves, as in 480.. for rapid and slower.
    #[arg(long, value_name = "FROM..TO")]
    pub time: Option<Range<u32>>,
}

/// Why a game is not wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unwanted {
    /// A rating is outside the range, or missing.
    Elo,
    /// The date is outside the range, missing, or too vague to tell.
    Date,
    /// It ended otherwise.
    Result,
    /// No position lies within the range of plies.
    Ply,
    /// The time control is outside the range.
    Time,
}

impl fmt::Display for Unwanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unwanted::Elo => "rating",
            Unwanted::Date => "date",
            Unwanted::Result => "result",
            Unwanted::Ply => "length",
            Unwanted::Time => "time control",
        })
    }
}

impl Filter {
    /// What of a game's tags is not wanted.
    pub fn unwanted(&self, tags: &Tags) -> Option<Unwanted> {
        let rated = |range: &Range<u16>| {
            tags.elo.iter().all(|elo| elo.is_some_and(|elo| range.contains(&elo)))
        };
        if self.elo.as_ref().is_some_and(|range| !rated(range)) {
            return Some(Unwanted::Elo);
        }
        let dated = |range: &Range<Date>| {
            let (from, to) = (range.from.map(Date::first), range.to.map(Date::last));
            let range = Range { from, to };
            tags.date
                .is_some_and(|date| range.contains(&date.first()) && range.contains(&date.last()))
        };
        if self.date.as_ref().is_some_and(|range| !dated(range)) {
            return Some(Unwanted::Date);
        }
        let timed = |range: &Range<u32>| tags.time.is_none_or(|time| range.contains(&time));
        self.time.as_ref().is_some_and(|range| !timed(range)).then_some(Unwanted::Time)
    }

    /// Whether a game that ended so is wanted.
    pub fn wants_result(&self, winner: Option<Color>) -> bool {
        self.result.is_empty() || self.result.contains(&Ending(winner))
    }

    /// Whether a position after `ply` half-moves is wanted.
    pub fn wants_ply(&self, ply: usize) -> bool {
        self.ply
            .as_ref()
            .is_none_or(|range| range.contains(&u16::try_from(ply).unwrap_or(u16::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_open_where_nothing_is_said() {
        let range = |text: &str| text.parse::<Range<u16>>();
        assert_eq!(range("5..9"), Ok(Range { from: Some(5), to: Some(9) }));
        assert_eq!(range("2400"), Ok(Range { from: Some(2400), to: None }));
        assert_eq!(range("..9"), Ok(Range { from: None, to: Some(9) }));
        for wrong in ["", "..", "9..5", "x", "5..y", "-3"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_missing_or_vague_is_not_wanted_but_untagged_time_is() {
        let filter = Filter {
            elo: "2400..".parse().ok(),
            date: "2015..2019.06".parse().ok(),
            time: "480..".parse().ok(),
            ..Filter::default()
        };
        let tags = |elo: [u16; 2], date: &str, time| Tags {
            elo: elo.map(|elo| (elo > 0).then_some(elo)),
            date: date.parse().ok(),
            time,
            ..Tags::default()
        };
        let why = |elo, date, time| filter.unwanted(&tags(elo, date, time));
        assert_eq!(why([2400, 2500], "2019.06.30", None), None);
        assert_eq!(why([2400, 2500], "2015.??.??", Some(480)), None);
        assert_eq!(why([2399, 2500], "2018.01.01", None), Some(Unwanted::Elo));
        assert_eq!(why([0, 2500], "2018.01.01", None), Some(Unwanted::Elo));
        assert_eq!(why([2400, 2500], "2019.07.01", None), Some(Unwanted::Date));
        assert_eq!(why([2400, 2500], "2019.??.??", None), Some(Unwanted::Date));
        assert_eq!(why([2400, 2500], "????.??.??", None), Some(Unwanted::Date));
        assert_eq!(why([2400, 2500], "2018.02.03", Some(180)), Some(Unwanted::Time));
    }
}
