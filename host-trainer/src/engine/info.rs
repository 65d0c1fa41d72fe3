//! What an engine says while it searches.
use kibitzer_core::shakmaty::{Chess, Move, Position as _, uci::UciMove};

use crate::library::Score;

/// A line that an engine found best, next best and so on.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its first move.
    pub mv: Move,
    /// Its score from the side to move.
    pub score: Score,
    /// Its moves, the first among them.
    pub line: Vec<Move>,
}

/// An `info` line with a score: depth, rank from 1, and what was found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Info {
    pub depth: u32,
    pub rank: usize,
    pub found: Found,
}

impl Info {
    /// Reads a line that an engine sends while it searches `position`. `None` for lines that say
    /// something else, a bound only, or nothing that can be understood: what is missing in the
    /// end is noticed.
    pub fn parse(line: &str, position: &Chess) -> Option<Info> {
        let mut words = line.strip_prefix("info ")?.split_whitespace();
        let (mut depth, mut rank, mut score) = (None, 1, None);
        while let Some(word) = words.next() {
            match word {
                "depth" => depth = words.next()?.parse().ok(),
                "multipv" => rank = words.next()?.parse().ok()?,
                "cp" => score = Some(Score::Centipawns(words.next()?.parse().ok()?)),
                "mate" => score = Some(Score::mate(words.next()?.parse().ok()?)),
                "lowerbound" | "upperbound" | "string" => return None,
                "pv" => {
                    let line = moves(words, position);
                    let found = Found { mv: *line.first()?, score: score?, line };
                    return Some(Info { depth: depth?, rank, found });
                }
                _ => {}
            }
        }
        None
    }
}

/// The moves that can be played one after the other, up to the first that cannot.
fn moves<'a>(words: impl Iterator<Item = &'a str>, root: &Chess) -> Vec<Move> {
    let mut position = root.clone();
    let legal = |word: &str| {
        let mv = word.parse::<UciMove>().ok()?.to_move(&position).ok()?;
        position.play_unchecked(mv);
        Some(mv)
    };
    words.map_while(legal).collect()
}

/// The lines of the iterations of a search.
#[derive(Debug, Default)]
pub(super) struct Iterations {
    /// By rank, the newest line with its depth.
    ranks: Vec<Option<(u32, Found)>>,
    /// The deepest iteration that was whole.
    whole: Option<(u32, Vec<Found>)>,
}

impl Iterations {
    /// Takes in a line; `wanted` of them make an iteration.
    pub fn add(&mut self, info: Info, wanted: usize) {
        let Info { depth, rank, found } = info;
        if !(1..=wanted).contains(&rank) {
            return;
        }
        self.ranks.resize(wanted, None);
        self.ranks[rank - 1] = Some((depth, found));
        let of_depth = |line: &Option<(u32, Found)>| {
            line.as_ref().filter(|(d, _)| *d == depth).map(|(_, found)| found.clone())
        };
        let lines: Option<Vec<Found>> = self.ranks.iter().map(of_depth).collect();
        let distinct = |lines: &Vec<Found>| {
            (1..lines.len()).all(|i| lines[..i].iter().all(|line| line.mv != lines[i].mv))
        };
        if let Some(lines) = lines.filter(distinct) {
            self.whole = Some((depth, lines));
        }
    }

    /// Whether an iteration was whole.
    pub fn is_any_whole(&self) -> bool {
        self.whole.is_some()
    }

    /// The deepest whole iteration, if there was one, with its depth.
    pub fn whole(self) -> Option<(u32, Vec<Found>)> {
        self.whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::uci;

    fn info(line: &str) -> Option<(u32, usize, Score, Vec<String>)> {
        let info = Info::parse(line, &Chess::default())?;
        let line = info.found.line.iter().map(|&mv| uci(mv)).collect();
        Some((info.depth, info.rank, info.found.score, line))
    }

    #[test]
    fn depth_rank_score_and_line_are_read_wherever_they_stand() {
        let line =
            "info depth 3 seldepth 2 multipv 2 score cp 45 nodes 272 nps 5 time 5 pv d2d4 e7e5";
        let moves = vec!["d2d4".to_owned(), "e7e5".to_owned()];
        assert_eq!(info(line), Some((3, 2, Score::Centipawns(45), moves.clone())));
        let line = "info score mate -2 depth 7 pv d2d4 e7e5 e1e8 e2e4";
        assert_eq!(info(line), Some((7, 1, Score::mate(-2), moves)), "up to what is illegal");
        for nothing in [
            "info string NNUE evaluation using a.nnue",
            "info depth 5 currmove e2e4 currmovenumber 1",
            "info depth 5 score cp 20 upperbound pv e2e4",
            "info depth 5 score cp 20 pv e2e5",
            "info depth five score cp 20 pv e2e4",
            "bestmove e2e4",
        ] {
            assert_eq!(info(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn only_whole_iterations_count() {
        let mut iterations = Iterations::default();
        let mut add = |depth: u32, rank: usize, mv: &str| {
            let line = format!("info depth {depth} multipv {rank} score cp {depth} pv {mv}");
            iterations.add(Info::parse(&line, &Chess::default()).unwrap(), 2);
        };
        add(1, 1, "e2e4");
        add(1, 2, "d2d4");
        add(2, 1, "d2d4");
        add(2, 2, "e2e4");
        add(3, 1, "c2c4");
        add(3, 2, "c2c4");
        add(3, 3, "a2a3");
        let (depth, lines) = iterations.whole().unwrap();
        assert_eq!(depth, 2);
        assert_eq!(lines.iter().map(|line| uci(line.mv)).collect::<Vec<_>>(), ["d2d4", "e2e4"]);
        assert!(Iterations::default().whole().is_none());
    }
}
