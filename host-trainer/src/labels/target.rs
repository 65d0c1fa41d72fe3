//! Scores to targets.
//!
//! W is an engine's score as the mover's winning chance, from 0 to 1: the logistic curve of
//! [`winning_chances`], divided by 100.
//!
//! - Policy: `q_i = exp(W_i / T) / Σ_j exp(W_j / T)` over the moves chosen, 0 for the others and
//!   for those without a score.
//! - Value: `2 · W_best − 1`, from −1 (lost) to 1 (won): the scale of a game's result.
use std::fmt;

use super::UNKNOWN;
use crate::{error::UserError, library::winning_chances};

/// The temperature T where nothing else is said, in winning chances: a move that drops two
/// points of a hundred has 1/e of the best one's probability.
pub const TEMPERATURE: f64 = 0.02;

/// Which moves have a probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// All.
    #[default]
    All,
    /// So many of the best, and whatever ties with the last of them: no order decides.
    Best(usize),
}

impl std::str::FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Choice, String> {
        match (text, text.parse()) {
            ("all", _) => Ok(Choice::All),
            (_, Ok(number @ 2..)) => Ok(Choice::Best(number)),
            _ => Err("give all, or a number from 2 as in 8".into()),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::All => f.write_str("all"),
            Choice::Best(number) => write!(f, "{number}"),
        }
    }
}

/// How scores become probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    temperature: f64,
    choice: Choice,
}

impl Target {
    /// Targets of a temperature in winning chances, over the moves of `choice`.
    ///
    /// # Errors
    /// [`UserError`] unless the temperature lies within 0.0001 and 100: colder or hotter ones
    /// cannot be told from one best move, or from no preference, in single precision.
    pub fn new(temperature: f64, choice: Choice) -> Result<Target, UserError> {
        if (1e-4..=100.0).contains(&temperature) {
            return Ok(Target { temperature, choice });
        }
        let mend = "give winning chances from 0.0001 to 100, as in 0.02";
        Err(UserError::new("a temperature out of range", "--temperature", mend))
    }

    /// The probability of each move, from the scores of all in centipawns; at least one.
    pub fn policy<'a>(&self, scores: &'a [i16]) -> impl Iterator<Item = f64> + use<'a> {
        let temperature = self.temperature;
        let least = self.least_chosen(scores);
        let best = chance(best(scores));
        let weight = move |&score: &i16| {
            let share = ((chance(score) - best) / temperature).exp();
            if score >= least && score != UNKNOWN { share } else { 0.0 }
        };
        let sum: f64 = scores.iter().map(weight).sum();
        scores.iter().map(move |score| weight(score) / sum)
    }

    /// How many of the moves have a probability.
    pub fn chosen(&self, scores: &[i16]) -> usize {
        let least = self.least_chosen(scores);
        scores.iter().filter(|&&score| score >= least && score != UNKNOWN).count()
    }

    /// The lowest score that has a probability.
    fn least_chosen(&self, scores: &[i16]) -> i16 {
        match self.choice {
            Choice::Best(number) if number < scores.len() => {
                let mut sorted = scores.to_vec();
                *sorted.select_nth_unstable_by(number - 1, |a, b| b.cmp(a)).1
            }
            _ => i16::MIN,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Target { temperature, choice } = self;
        write!(f, "winning chances at temperature {temperature}, moves {choice}")
    }
}

/// The value target of a position whose moves have these scores: see the module.
pub fn value(scores: &[i16]) -> f64 {
    2.0 * chance(best(scores)) - 1.0
}

fn best(scores: &[i16]) -> i16 {
    scores.iter().copied().max().expect("a labelled position has a legal move")
}

/// The winning chance, from 0 to 1.
fn chance(centipawns: i16) -> f64 {
    winning_chances(centipawns.into()) / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(temperature: f64, choice: Choice, scores: &[i16]) -> Vec<f64> {
        Target::new(temperature, choice).unwrap().policy(scores).collect()
    }

    #[test]
    fn probabilities_follow_the_winning_chances() {
        let found = policy(0.02, Choice::All, &[0, 100, -300]);
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // W is 0.5 and 0.591026 for 0 and 100 centipawns, by hand.
        assert!((found[0] / found[1] - (-0.091_026f64 / 0.02).exp()).abs() < 1e-5);
        assert!(found[2] < found[0]);
        let mates = policy(0.0001, Choice::All, &[-10_001, 10_000, 9_999]);
        assert_eq!(mates[0], 0.0);
        assert!((mates[1] - 0.5).abs() < 1e-9, "two wins are alike: {mates:?}");
    }

    #[test]
    fn the_best_moves_alone_share_the_probability_and_ties_stay_in() {
        let scores = [5, 40, 30, 20, 20, 10];
        let found = policy(0.02, Choice::Best(3), &scores);
        let kept: Vec<bool> = found.iter().map(|&q| q > 0.0).collect();
        assert_eq!(kept, [false, true, true, true, true, false]);
        assert_eq!(policy(0.02, Choice::Best(6), &scores), policy(0.02, Choice::All, &scores));
    }

    #[test]
    fn moves_without_a_score_have_no_probability() {
        let found = policy(0.02, Choice::All, &[UNKNOWN, 10, UNKNOWN, 10]);
        assert_eq!(found, [0.0, 0.5, 0.0, 0.5]);
        assert_eq!(policy(0.02, Choice::Best(3), &[UNKNOWN, 10, UNKNOWN, 10]), found);
        let target = Target::new(0.02, Choice::All).unwrap();
        assert_eq!(target.chosen(&[UNKNOWN, 10, UNKNOWN]), 1);
        assert_eq!(value(&[UNKNOWN, 0]), 0.0);
    }

    #[test]
    fn the_value_is_that_of_the_best_move_on_the_scale_of_results() {
        assert_eq!(value(&[-50, 0]), 0.0);
        assert!((value(&[100, 7]) - 0.182_052).abs() < 1e-5);
        assert!(value(&[10_000]) <= 1.0 && value(&[10_000]) > 0.999);
        assert!(value(&[-10_001]) >= -1.0 && value(&[-10_001]) < -0.999);
    }

    #[test]
    fn impossible_settings_are_refused() {
        for temperature in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Target::new(temperature, Choice::All).is_err());
        }
        assert_eq!("8".parse(), Ok(Choice::Best(8)));
        assert_eq!("all".parse(), Ok(Choice::All));
        for text in ["1", "0", "-3", "best", ""] {
            assert!(text.parse::<Choice>().is_err(), "{text}");
        }
    }
}
