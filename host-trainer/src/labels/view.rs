//! Whose view the evaluations in games' comments are: White's, or that of the side that moved.
use std::fmt;

use kibitzer_core::shakmaty::Color;

use super::comments::{Said, parse};
use crate::pgn::Game;

/// From whose side a file's scores are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum View {
    /// White's.
    White,
    /// That of the side that has moved.
    Mover,
}

/// Scores that are at least so far from even, in centipawns, tell who is better.
const CLEAR: i32 = 100;
/// Where too few are, these must do.
const SLIGHT: i32 = 20;
/// So much evidence is enough.
const ENOUGH: u64 = 3;
/// Share of it that must agree.
const AGREED: f64 = 0.8;

/// What games show of whose view their evaluations are.
///
/// Three things tell: a comment may say that it is White's view; from one move to the next White's
/// view keeps its sign, the mover's changes it; and the last score after a move of Black is of
/// the winner's sign from White's side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Evaluations.
    pub comments: u64,
    /// Those that do not say whose view they are, by White's moves and by Black's.
    unnamed: [u64; 2],
    /// What tells for White's view, and for the mover's: clear scores, and slight ones besides.
    clear: [u64; 2],
    slight: [u64; 2],
}

impl Evidence {
    /// Adds what a game shows.
    pub(super) fn game(&mut self, game: &Game) {
        let said: Vec<(bool, Option<Said>)> =
            game.steps.iter().map(|s| (s.packed.turn().is_white(), parse(&s.comment))).collect();
        for (white, said) in said.iter().filter_map(|&(white, said)| Some((white, said?))) {
            self.comments += 1;
            self.unnamed[usize::from(!white)] += u64::from(!said.white);
        }
        for pair in said.windows(2) {
            if let [(_, Some(a)), (_, Some(b))] = pair
                && !a.white
                && !b.white
            {
                let certain = a.centipawns.abs().min(b.centipawns.abs());
                self.vote((a.centipawns > 0) == (b.centipawns > 0), certain);
            }
        }
        let blacks = said.iter().rev().find_map(|&(white, said)| said.filter(|_| !white));
        if let (Some(winner), Some(last)) = (game.winner, blacks.filter(|said| !said.white)) {
            let for_white = last.centipawns > 0;
            self.vote(for_white == (winner == Color::White), last.centipawns.abs());
        }
    }

    /// Counts what tells for White's view or the mover's; `certain` is how far from even it is.
    fn vote(&mut self, white: bool, certain: i32) {
        let place = usize::from(!white);
        self.clear[place] += u64::from(certain >= CLEAR);
        self.slight[place] += u64::from((SLIGHT..CLEAR).contains(&certain));
    }

    /// What counts: clear scores, if they are enough, else the slight ones too.
    fn counted(&self) -> [u64; 2] {
        let [clear, slight] = [self.clear, self.slight];
        if clear[0] + clear[1] >= ENOUGH { clear } else { [0, 1].map(|i| clear[i] + slight[i]) }
    }

    /// The view that the games show; `None` if they do not. After White's moves both are one.
    pub fn view(&self) -> Option<View> {
        let [white, mover] = self.counted();
        let share = white as f64 / (white + mover).max(1) as f64;
        match share {
            _ if self.unnamed == [0, 0] => Some(View::White),
            _ if self.unnamed[1] == 0 => Some(View::Mover),
            _ if white + mover < ENOUGH => None,
            _ if share >= AGREED => Some(View::White),
            _ if share <= 1.0 - AGREED => Some(View::Mover),
            _ => None,
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [white, mover] = self.counted();
        let all = white + mover;
        write!(f, "{} evaluations, ", self.comments)?;
        match self.view() {
            Some(View::White) if self.unnamed == [0, 0] => f.write_str("White's view, as they say"),
            Some(_) if self.unnamed[1] == 0 => f.write_str("all of White's moves"),
            Some(View::White) => write!(f, "White's view, as {white} of {all} signs show"),
            Some(View::Mover) => write!(f, "the mover's view, as {mover} of {all} signs show"),
            None if all == 0 => f.write_str("of which none shows whose view it is"),
            None => write!(f, "of which {white} seem to be White's view and {mover} the mover's"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pgn::{Filter, Games};

    fn evidence(text: &str) -> Evidence {
        let mut evidence = Evidence::default();
        let mut games = Games::new(&Filter::default(), true);
        let take = |game: &Game| {
            evidence.game(game);
            Ok(())
        };
        games.read("t.pgn".as_ref(), text.as_bytes(), take).unwrap();
        evidence
    }

    #[test]
    fn slight_scores_and_results_tell_where_clear_ones_are_few() {
        let slight = "1. e4 {+0.30/9} e5 {-0.25/9} 2. Nf3 {+0.40/9} Nc6 {-0.35/9} 1/2-1/2\n";
        assert_eq!(evidence(slight).view(), Some(View::Mover));
        assert_eq!(
            evidence(slight).to_string(),
            "4 evaluations, the mover's view, as 3 of 3 signs show"
        );
        // Only Black's moves have scores: who wins tells.
        let results =
            "1. e4 e5 {+2.00/9} 1-0\n\n1. d4 d5 {-1.50/9} 0-1\n\n1. c4 c5 {+3.00/9} 1-0\n";
        assert_eq!(evidence(results).view(), Some(View::White));
        let whites = "1. e4 {+0.30/9} e5 2. d4 {+0.10/9} 1-0\n";
        assert_eq!(evidence(whites).to_string(), "2 evaluations, all of White's moves");
        let even = "1. e4 {0.00/9} e5 {0.00/9} 2. d4 {0.00/9} d5 {+0.00/9} 1/2-1/2\n";
        assert_eq!((evidence(even).view(), evidence(even).comments), (None, 4));
        assert_eq!(evidence("1. e4 {wv=0.30} e5 {wv=0.10} 1-0\n").view(), Some(View::White));
    }
}
