//! What was tried and rejected, tried again: each experiment says by its own figures whether the
//! rejection holds today.
//!
//! - [`leaves`]: the positional evaluation chooses.
//! - [`lookahead`]: the opponent's best reply is taken off the score.
//! - [`glances`]: terms about trapped pieces and nets round the king are forced in.
mod glances;
mod leaves;
mod lookahead;

use anyhow::Result;

use super::{
    page::{Page, number, signed},
    study::Study,
};
use crate::{fit::Row, judge};

/// An experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Experiment {
    /// Choose by the positional evaluation after the exchanges.
    Leaves,
    /// Take the opponent's best reply, by the same formula, off the score.
    Lookahead,
    /// Force the terms about trapped pieces and king nets into score and scan.
    Glances,
}

impl Experiment {
    /// All of them, in the order of the report.
    pub const ALL: [Experiment; 3] =
        [Experiment::Leaves, Experiment::Lookahead, Experiment::Glances];

    /// Makes the experiment and adds what came of it to `page`.
    ///
    /// # Errors
    /// [`crate::error::UserError`] if the library has too few quiet positions for the positional
    /// evaluation.
    pub fn run(self, page: &mut Page, study: &Study) -> Result<()> {
        tracing::info!("experiment: {self:?}");
        match self {
            Experiment::Leaves => leaves::section(page, study),
            Experiment::Lookahead => {
                lookahead::section(page, study);
                Ok(())
            }
            Experiment::Glances => {
                glances::section(page, study);
                Ok(())
            }
        }
    }
}

/// Mean losses of two ways of choosing in the same positions.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Duel {
    /// Of what is tried, in centipawns.
    tried: f64,
    /// Of what it is compared with.
    rival: f64,
    /// Standard error of the difference, position by position.
    se: f64,
}

impl Duel {
    /// Compares two choices, each the numbers of the moves that tie for first, in each of `rows`.
    fn new(rows: &[Row], tried: &[Vec<usize>], rival: &[Vec<usize>]) -> Duel {
        let [tried, rival] = [tried, rival].map(|choices| losses(rows, choices));
        let differences: Vec<f64> = tried.iter().zip(&rival).map(|(t, r)| t - r).collect();
        let middle = mean(&differences);
        let squares: f64 = differences.iter().map(|d| (d - middle).powi(2)).sum();
        let n = differences.len() as f64;
        let se = (squares / (n - 1.0).max(1.0) / n.max(1.0)).sqrt();
        Duel { tried: mean(&tried), rival: mean(&rival), se }
    }

    /// What follows: a difference within two standard errors is none.
    fn verdict(&self) -> String {
        let difference = self.tried - self.rival;
        let meaning = if difference > 2.0 * self.se {
            "worse: the rejection holds"
        } else if difference < -2.0 * self.se {
            "better: the rejection no longer holds"
        } else {
            "no gain beyond two standard errors: the rejection holds"
        };
        format!(
            "Difference {} ± {} cp. **Verdict: {meaning}.**",
            signed(difference, 1),
            number(self.se, 1)
        )
    }
}

/// What each choice loses, in centipawns; the mean over moves that tie.
fn losses(rows: &[Row], choices: &[Vec<usize>]) -> Vec<f64> {
    rows.iter().zip(choices).map(|(row, chosen)| judge::loss(row.0, chosen)).collect()
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_follows_from_the_figures() {
        let verdict = |tried, rival, se| Duel { tried, rival, se }.verdict();
        assert!(verdict(75.0, 68.0, 3.0).contains("**Verdict: worse"));
        assert!(verdict(73.0, 68.0, 3.0).contains("no gain"));
        assert!(verdict(60.0, 68.0, 3.0).contains("no longer holds"));
    }
}
