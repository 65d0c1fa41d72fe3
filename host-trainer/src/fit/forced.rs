//! What terms contribute that selection did not choose, or did: the chosen set with them and
//! without them, in the same cross-validation.
use std::collections::HashMap;

use rayon::prelude::*;

use super::{
    Fitted, Row, column, logit, mean_loss, missed, openings::FOLDS, sample::Sample, samples,
};

/// By what share of it terms lower a figure; negative if they raise it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Contribution {
    /// The mean loss of the score's choices.
    pub score: f64,
    /// The share of positions whose best move the scan's list lacks.
    pub scan: f64,
}

/// Sets of columns that were chosen, to force others into.
#[derive(Debug)]
pub struct Forced {
    samples: Vec<Sample>,
    score: Set,
    scan: Set,
}

impl Forced {
    /// The sets that `fitted` chose on `rows`, whose openings are `openings` (sorted).
    pub fn new(rows: &[Row], openings: &[String], fitted: &Fitted) -> Forced {
        Forced {
            samples: samples(rows, openings),
            score: Set::new(fitted.score.columns(), mean_loss),
            scan: Set::new(fitted.scan.columns(), missed),
        }
    }

    /// What `terms` contribute together, with whatever weights the logit gives them, be they
    /// contrary to their sense.
    pub fn contribution(&mut self, terms: &[usize]) -> Contribution {
        Contribution {
            score: self.score.contribution(&self.samples, terms),
            scan: self.scan.contribution(&self.samples, terms),
        }
    }
}

/// A chosen set of terms and what it was chosen for.
#[derive(Debug)]
struct Set {
    chosen: Vec<usize>,
    figure: fn(&Sample, &[f64]) -> f64,
    /// Cross-validated figures of sets looked at.
    known: HashMap<Vec<usize>, f64>,
}

impl Set {
    fn new(chosen: Vec<usize>, figure: fn(&Sample, &[f64]) -> f64) -> Set {
        Set { chosen, figure, known: HashMap::new() }
    }

    fn contribution(&mut self, samples: &[Sample], terms: &[usize]) -> f64 {
        let mut without = self.chosen.clone();
        without.retain(|&column| !terms.contains(&column::term(column)));
        let mut with = without.clone();
        with.extend(terms);
        let without = self.cross_validated(samples, without);
        (without - self.cross_validated(samples, with)) / without.max(f64::MIN_POSITIVE)
    }

    /// The mean figure of `columns`, fitted to four fifths of the openings and rated on the last.
    fn cross_validated(&mut self, samples: &[Sample], mut columns: Vec<usize>) -> f64 {
        columns.sort_unstable();
        if let Some(&figure) = self.known.get(&columns) {
            return figure;
        }
        let of_sample = self.figure;
        let of_fold = |fold: usize| -> f64 {
            let (left_out, fitted): (Vec<&Sample>, Vec<&Sample>) =
                samples.iter().partition(|sample| sample.fold == fold);
            let weights = logit::fit(&fitted, &columns, &vec![0.0; columns.len()]);
            left_out.iter().map(|s| of_sample(s, &s.scores(&columns, &weights))).sum()
        };
        let sums: Vec<f64> = (0..FOLDS).into_par_iter().map(of_fold).collect();
        let figure = sums.iter().sum::<f64>() / samples.len().max(1) as f64;
        self.known.insert(columns, figure);
        figure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_that_decides_contributes_and_noise_does_not() {
        let samples = Sample::chosen_by(300, &[(0, 1.0), (1, 0.5)]);
        let mut set = Set::new(vec![0], mean_loss);
        let mut contribution = |term: usize| set.contribution(&samples, &[term]);
        assert!(contribution(1) > 0.8, "with it the choice is nearly perfect");
        assert!(contribution(7) < 0.03);
        assert!(contribution(0) > 0.5, "a chosen term is left out for comparison");
    }
}
