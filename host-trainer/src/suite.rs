//! Suites: positions with moves to find or to avoid, or with points for moves; and how well a
//! chooser does on them.
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::Result;
use kibitzer_core::shakmaty::{Chess, Move, Position as _};
use serde::Serialize;

use crate::{
    epd::{self, Epd, Skipped},
    error::UserError,
};

/// A suite as it was read.
#[derive(Debug, Default)]
pub struct Suite {
    /// The positions that ask for something.
    pub cases: Vec<Epd>,
    /// Lines that do not.
    pub skipped: Skipped,
}

impl Suite {
    /// Reads files of EPD. Lines whose position or moves are not legal, or that ask for nothing,
    /// are left out and counted.
    ///
    /// # Errors
    /// [`UserError`] if a file cannot be read, or no line asks for anything.
    pub fn read(paths: &[PathBuf]) -> Result<Suite> {
        let mut suite = Suite::default();
        for path in paths {
            suite.file(path)?;
        }
        if suite.cases.is_empty() {
            let what = match suite.skipped.reasons.first() {
                Some(reason) => format!("no move to find ({reason})"),
                None => "no positions".to_owned(),
            };
            let mend = "give EPD lines with bm, am, or points in c0 or c8 and c9";
            return Err(UserError::new(what, paths[0].display(), mend).into());
        }
        Ok(suite)
    }

    fn file(&mut self, path: &Path) -> Result<()> {
        let Suite { cases, skipped } = self;
        let mut idle = Skipped::default();
        let broken = epd::read(path, |number, epd| {
            let asks = !(epd.best.is_empty() && epd.avoid.is_empty() && epd.points.is_empty());
            if asks && !epd.position.legal_moves().is_empty() {
                cases.push(epd);
            } else {
                idle.add(path, number, "it asks for no move");
            }
            Ok(())
        })?;
        skipped.join(broken);
        skipped.join(idle);
        Ok(())
    }
}

/// How a chooser did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Rating {
    /// Positions.
    pub positions: u64,
    /// Those in which a best move was chosen, and none to avoid; where only points are given,
    /// the move that has the most.
    pub solved: u64,
    /// Points of the moves chosen.
    pub points: u64,
    /// Points of the best moves, in the positions with points.
    pub possible: u64,
}

impl Rating {
    fn add(&mut self, epd: &Epd, choice: Move) {
        let Epd { best, avoid, points, .. } = epd;
        let most = points.iter().map(|&(_, points)| points).max().unwrap_or(0);
        let own = points.iter().find(|(mv, _)| *mv == choice).map_or(0, |&(_, points)| points);
        let asked = !(best.is_empty() && avoid.is_empty());
        let found = best.is_empty() || best.contains(&choice);
        let solved = if asked { found && !avoid.contains(&choice) } else { own == most };
        self.positions += 1;
        self.solved += u64::from(solved);
        self.points += u64::from(own);
        self.possible += u64::from(most);
    }

    /// Share of positions solved.
    pub fn share(&self) -> f64 {
        self.solved as f64 / self.positions.max(1) as f64
    }

    /// Share of the points; `None` where no position has any.
    pub fn score(&self) -> Option<f64> {
        (self.possible > 0).then(|| self.points as f64 / self.possible as f64)
    }
}

/// How a chooser did in all, and by theme.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ratings {
    /// In all positions.
    pub all: Rating,
    /// In those of a theme.
    pub themes: BTreeMap<String, Rating>,
}

impl Ratings {
    /// Has `choose` choose in every position; `done` is called after each.
    ///
    /// # Errors
    /// Whatever `choose` fails with.
    pub fn of(
        suite: &Suite,
        mut choose: impl FnMut(&Chess) -> Result<Move>,
        done: impl Fn(),
    ) -> Result<Ratings> {
        let mut ratings = Ratings::default();
        for epd in &suite.cases {
            let choice = choose(&epd.position)?;
            ratings.all.add(epd, choice);
            ratings.themes.entry(theme(&epd.id)).or_default().add(epd, choice);
            done();
        }
        Ok(ratings)
    }
}

/// What a position's name says besides its number, wherever that stands: `STS(v1.0) Undermine.001`
/// is of the theme `STS(v1.0) Undermine`, `ERET 093 - Endgame` of `ERET - Endgame`.
fn theme(id: &str) -> String {
    let words = id.split_whitespace().map(without_number).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join(" ");
    let name = name.trim_matches(SEPARATORS);
    if name.is_empty() { "without a name".to_owned() } else { name.to_owned() }
}

/// What parts a name from its number.
const SEPARATORS: [char; 6] = ['.', ' ', '-', '_', '#', ':'];

/// A word without the number at its end; a square's is none.
fn without_number(word: &str) -> &str {
    let is_square = matches!(word.as_bytes(), [b'a'..=b'h', b'1'..=b'8']);
    let name = word.trim_end_matches(':').trim_end_matches(|c: char| c.is_ascii_digit());
    if is_square || name.len() == word.len() { word } else { name.trim_end_matches(SEPARATORS) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::uci;

    fn rating(operations: &str, choice: &str) -> Rating {
        let line =
            format!("r1bqk2r/ppp2ppp/2n5/4P3/2Bp2n1/5N1P/PP1N1PP1/R2Q1RK1 b kq - {operations}");
        let suite =
            Suite { cases: vec![epd::parse(&line).unwrap().unwrap()], skipped: Skipped::default() };
        let choose = |position: &Chess| {
            Ok(*position.legal_moves().iter().find(|&&mv| uci(mv) == choice).unwrap())
        };
        Ratings::of(&suite, choose, || ()).unwrap().all
    }

    #[test]
    fn best_moves_are_to_be_found_others_to_be_avoided_and_points_to_be_won() {
        let solved = |operations: &str, choice: &str| rating(operations, choice).solved == 1;
        assert!(solved("bm Nh6 d3;", "d4d3") && !solved("bm Nh6;", "d4d3"));
        assert!(solved("am Nh6;", "d4d3") && !solved("am Nh6;", "g4h6"));
        assert!(!solved("bm Nh6; am Nh6;", "g4h6"));
        let scored = "bm Nh6; c0 \"Nh6=100, d3=40\";";
        assert_eq!(
            rating(scored, "d4d3"),
            Rating { positions: 1, solved: 0, points: 40, possible: 100 }
        );
        assert!(solved("c0 \"Nh6=90, d3=40\";", "g4h6"));
        assert_eq!(rating("bm Nh6;", "g4h6").score(), None);
        assert_eq!(rating(scored, "h7h6").score(), Some(0.0));
    }

    #[test]
    fn a_theme_is_a_name_without_its_number() {
        assert_eq!(theme("STS(v1.0) Undermine.001"), "STS(v1.0) Undermine");
        assert_eq!(theme("BK.01"), "BK");
        assert_eq!(theme("ERET 015 - Endspiel"), "ERET - Endspiel");
        assert_eq!(theme("093: Endgame"), "Endgame");
        assert_eq!(theme("WAC.055 late mate"), "WAC late mate");
        assert_eq!(theme("STS(v14.0) 7th Rank on f7.012"), "STS(v14.0) 7th Rank on f7");
        assert_eq!(theme("Sacrifice on f7"), "Sacrifice on f7");
        assert_eq!(theme("#12 - Mate in two"), "Mate in two");
        assert_eq!(theme("17"), "without a name");
    }
}
