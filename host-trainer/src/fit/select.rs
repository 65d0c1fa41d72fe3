//! Greedy forward selection of weights under cross-validation, openings held out together.
//!
//! The next [column](super::column) is the one that lowers the cross-entropy of the openings left out the most,
//! since it is smooth where the mean loss of the choices is noisy; how many weights are worth
//! having is read off that mean loss (or, for the scan, off the share of positions it misses).
use rayon::prelude::*;

use super::{
    column,
    curvature::{Candidate, Curvature, curvature},
    logit,
    matrix::Factor,
    openings::FOLDS,
    sample::Sample,
};

/// Terms that promise most by the second order of one fold's fit, which are then looked at in all.
const SCREENED: usize = 24;
/// Terms that promise most by the second order of all folds' fits, of which the best by the
/// openings left out is taken.
const SHORTLIST: usize = 8;
/// The smallest set is chosen whose figure is within this share of the best on the path.
pub const WITHIN: f64 = 0.03;

/// What selection starts from and aims at.
pub struct Aim<'a> {
    /// The term that is in every set, if one is.
    pub first: Option<usize>,
    /// Terms that may join.
    pub pool: &'a [usize],
    /// Whether a term of the pool that has joined may get a weight of its own in the endgame.
    pub tapered: bool,
    /// The most weights that a set may hold.
    pub most: usize,
    /// How badly the scores of a position's moves choose.
    pub figure: fn(&Sample, &[f64]) -> f64,
}

/// A set of columns on the path: this one and all before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The column that joined.
    pub column: usize,
    /// Cross-validated cross-entropy a position, in nats.
    pub cross_entropy: f64,
    /// Cross-validated mean of the aim's figure.
    pub figure: f64,
}

/// The sets of columns that selection went through, each one larger than the one before.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The sets.
    pub steps: Vec<Step>,
    /// Size of the set chosen.
    pub chosen: usize,
}

impl Path {
    /// The columns chosen, in the order in which they joined.
    pub fn columns(&self) -> Vec<usize> {
        self.steps[..self.chosen].iter().map(|step| step.column).collect()
    }
}

/// Walks the path until no column lowers the cross-entropy, and chooses on it.
pub fn select(samples: &[Sample], aim: &Aim) -> Path {
    let mut sets = Sets::new(samples);
    let mut steps: Vec<Step> = Vec::new();
    if let Some(term) = aim.first {
        let fitted = sets.folds.par_iter().map(|f| logit::fit(&f.fitted, &[term], &[0.0]));
        let weights = fitted.collect();
        steps.push(sets.join(term, weights, aim));
    }
    let mut pool = aim.pool.to_vec();
    pool.retain(|&term| Some(term) != aim.first);
    while steps.len() < aim.most {
        let Some((column, weights)) = sets.next(&pool) else { break };
        pool.retain(|&other| other != column);
        if aim.tapered && !column::is_endgame(column) {
            pool.push(column::endgame(column));
        }
        steps.push(sets.join(column, weights, aim));
    }
    Path { chosen: enough(&steps), steps }
}

/// Size of the smallest set whose figure is close enough to the best.
fn enough(steps: &[Step]) -> usize {
    let best = steps.iter().map(|step| step.figure).fold(f64::INFINITY, f64::min);
    let close = |step: &Step| step.figure <= best * (1.0 + WITHIN);
    steps.iter().position(close).map_or(0, |at| at + 1)
}

/// The columns joined so far, fitted in each fold.
struct Sets<'a> {
    columns: Vec<usize>,
    folds: Vec<Fold<'a>>,
    positions: f64,
    cross_entropy: f64,
}

/// Samples of four fifths of the openings, those left out, and the weights fitted to the former.
struct Fold<'a> {
    fitted: Vec<&'a Sample>,
    left_out: Vec<&'a Sample>,
    weights: Vec<f64>,
}

/// Columns that might join in one fold: the derivatives at the present weights.
struct Outlook {
    curvature: Curvature,
    factor: Factor,
}

/// What a column would do in one fold, to second order.
struct Prospect {
    /// By how much the penalised loss falls, in nats.
    gain: f64,
    /// Weights of the columns and of the one that joins.
    weights: Vec<f64>,
}

impl<'a> Sets<'a> {
    fn new(samples: &'a [Sample]) -> Sets<'a> {
        let fold = |fold| {
            let (left_out, fitted) = samples.iter().partition(|sample| sample.fold == fold);
            Fold { fitted, left_out, weights: Vec::new() }
        };
        Sets {
            columns: Vec::new(),
            folds: (0..FOLDS).map(fold).collect(),
            positions: samples.len().max(1) as f64,
            cross_entropy: f64::INFINITY,
        }
    }

    /// Takes a column in, with the weights that it and the others have in each fold.
    fn join(&mut self, column: usize, weights: Vec<Vec<f64>>, aim: &Aim) -> Step {
        self.columns.push(column);
        for (fold, weights) in self.folds.iter_mut().zip(weights) {
            fold.weights = weights;
        }
        let columns = &self.columns;
        let of_fold = |fold: &Fold| {
            let cross_entropy = logit::loss(&fold.left_out, columns, &fold.weights);
            let figure =
                |sample: &&Sample| (aim.figure)(sample, &sample.scores(columns, &fold.weights));
            (cross_entropy, fold.left_out.iter().map(figure).sum::<f64>())
        };
        let sums: Vec<(f64, f64)> = self.folds.par_iter().map(of_fold).collect();
        self.cross_entropy = sums.iter().map(|sum| sum.0).sum();
        let figure: f64 = sums.iter().map(|sum| sum.1).sum();
        Step {
            column,
            cross_entropy: self.cross_entropy / self.positions,
            figure: figure / self.positions,
        }
    }

    /// The column of `pool` that lowers the cross-entropy of the openings left out the most, with
    /// the weights in each fold; `None` if none does and keeps every weight's sign.
    fn next(&self, pool: &[usize]) -> Option<(usize, Vec<Vec<f64>>)> {
        let pool = &self.screen(pool)[..];
        let outlooks: Vec<Outlook> =
            self.folds.par_iter().map(|fold| self.outlook(fold, pool)).collect();
        let mut shortlist: Vec<(usize, f64, Vec<Prospect>)> = (0..pool.len())
            .filter_map(|i| {
                let prospects: Vec<Prospect> = self
                    .folds
                    .iter()
                    .zip(&outlooks)
                    .map(|(fold, outlook)| outlook.prospect(i, &fold.weights))
                    .collect();
                let sensible = prospects.iter().all(|p| self.makes_sense(pool[i], &p.weights));
                let gain = prospects.iter().map(|p| p.gain).sum();
                sensible.then_some((pool[i], gain, prospects))
            })
            .collect();
        shortlist.sort_by(|a, b| b.1.total_cmp(&a.1));
        shortlist.truncate(SHORTLIST);
        let mut rated: Vec<(f64, usize, Vec<Prospect>)> = shortlist
            .into_par_iter()
            .map(|(column, _, prospects)| {
                (self.left_out_loss(column, &prospects), column, prospects)
            })
            .collect();
        rated.sort_by(|a, b| a.0.total_cmp(&b.0));
        rated.into_iter().find_map(|(_, column, prospects)| {
            let columns = [&self.columns[..], &[column]].concat();
            let weights: Vec<Vec<f64>> = self
                .folds
                .par_iter()
                .zip(&prospects)
                .map(|(fold, prospect)| logit::fit(&fold.fitted, &columns, &prospect.weights))
                .collect();
            let sensible = weights.iter().all(|weights| self.makes_sense(column, weights));
            let losses = self.folds.iter().zip(&weights);
            let loss: f64 = losses.map(|(f, w)| logit::loss(&f.left_out, &columns, w)).sum();
            (sensible && loss < self.cross_entropy).then_some((column, weights))
        })
    }

    /// The columns of `pool` that promise most in the first fold: its four fifths of the openings
    /// tell the hopeless from the others at a fifth of the cost of all folds.
    fn screen(&self, pool: &[usize]) -> Vec<usize> {
        let fold = &self.folds[0];
        let outlook = self.outlook(fold, pool);
        let prospects = (0..pool.len()).map(|i| (pool[i], outlook.prospect(i, &fold.weights)));
        let mut sensible: Vec<(usize, f64)> = prospects
            .filter(|(column, prospect)| self.makes_sense(*column, &prospect.weights))
            .map(|(column, prospect)| (column, prospect.gain))
            .collect();
        sensible.sort_by(|a, b| b.1.total_cmp(&a.1));
        sensible.iter().take(SCREENED).map(|&(column, _)| column).collect()
    }

    fn outlook(&self, fold: &Fold, pool: &[usize]) -> Outlook {
        let curvature = curvature(&fold.fitted, &self.columns, &fold.weights, pool);
        Outlook { factor: curvature.hessian.factor(), curvature }
    }

    /// Whether no weight contradicts its term's sense, `column` being the last.
    fn makes_sense(&self, column: usize, weights: &[f64]) -> bool {
        let columns = [&self.columns[..], &[column]].concat();
        column::sensible(&columns, weights).into_iter().all(|is| is)
    }

    fn left_out_loss(&self, column: usize, prospects: &[Prospect]) -> f64 {
        let columns = [&self.columns[..], &[column]].concat();
        let folds = self.folds.iter().zip(prospects);
        folds.map(|(fold, p)| logit::loss(&fold.left_out, &columns, &p.weights)).sum()
    }
}

impl Outlook {
    /// Newton's step in the weights of the columns and of candidate number `i` together, by the
    /// Schur complement: the score test of the candidate, and where the weights would go.
    fn prospect(&self, i: usize, weights: &[f64]) -> Prospect {
        let Candidate { gradient, second, cross } = &self.curvature.candidates[i];
        let shift = self.factor.solve(cross);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let slope = gradient - dot(&shift, &self.curvature.gradient);
        let bend = (second - dot(&shift, cross)).max(f64::MIN_POSITIVE);
        let own = -slope / bend;
        let settle = self.factor.solve(&self.curvature.gradient);
        let columns = weights.iter().zip(settle.iter().zip(&shift));
        let columns = columns.map(|(w, (settle, shift))| w - settle - own * shift);
        Prospect { gain: slope * slope / (2.0 * bend), weights: columns.chain([own]).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kibitzer_core::viveka::{Sense, TERM_COUNT, TERMS};

    fn with_sense(sense: Sense) -> Vec<usize> {
        (0..TERM_COUNT).filter(|&t| TERMS[t].sense == sense).collect()
    }

    fn regret(sample: &Sample, scores: &[f64]) -> f64 {
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let chosen = scores.iter().position(|&score| score == best).unwrap();
        sample.losses[chosen].into()
    }

    #[test]
    fn terms_join_by_what_they_explain_and_contradictory_ones_do_not() {
        let (good, bad) = (with_sense(Sense::Good), with_sense(Sense::Bad));
        let truth = [(good[0], 1.0), (bad[0], -0.5), (good[1], 0.2), (good[2], -0.4)];
        let samples = Sample::chosen_by(400, &truth);
        let pool: Vec<usize> = (0..30).collect();
        let aim =
            Aim { first: Some(good[0]), pool: &pool, tapered: false, most: 10, figure: regret };
        let path = select(&samples, &aim);
        let joined: Vec<usize> = path.steps.iter().map(|step| step.column).collect();
        assert_eq!(joined[..3], [good[0], bad[0], good[1]]);
        assert!(!joined.contains(&good[2]), "its weight would contradict its sense");
        for pair in path.steps.windows(2) {
            assert!(pair[1].cross_entropy < pair[0].cross_entropy);
        }
        let best = path.steps.iter().map(|step| step.figure).fold(f64::INFINITY, f64::min);
        let chosen = &path.steps[..path.chosen];
        assert!(chosen[path.chosen - 1].figure <= 1.03 * best);
        assert!(chosen[..path.chosen - 1].iter().all(|step| step.figure > 1.03 * best));
    }

    #[test]
    fn a_term_gets_a_weight_in_the_endgame_where_it_counts_otherwise() {
        let (good, bad) = (with_sense(Sense::Good), with_sense(Sense::Bad));
        let truth = [
            (good[0], 1.0),
            (column::endgame(good[0]), -0.8),
            (good[1], 0.6),
            (bad[0], -0.3),
            (column::endgame(bad[0]), 0.9),
        ];
        let samples = Sample::chosen_by(400, &truth);
        let pool: Vec<usize> = (0..20).collect();
        let path = |tapered| {
            let aim = Aim { first: None, pool: &pool, tapered, most: 10, figure: regret };
            select(&samples, &aim).steps.iter().map(|step| step.column).collect::<Vec<_>>()
        };
        let joined = path(true);
        let place = |column: usize| joined.iter().position(|&other| other == column);
        let late = column::endgame(good[0]);
        assert!(place(late).unwrap() > place(good[0]).unwrap(), "{joined:?}");
        // What counts alike everywhere may join by chance, but later.
        let alike = place(column::endgame(good[1]));
        assert!(alike.is_none_or(|alike| alike > place(late).unwrap()), "{joined:?}");
        assert_eq!(place(column::endgame(bad[0])), None, "it would turn against its sense");
        assert!(path(false).iter().all(|&column| !column::is_endgame(column)));
    }

    #[test]
    fn the_path_does_not_depend_on_the_threads() {
        let samples = Sample::chosen_by(400, &[(0, 1.0), (1, 0.3), (5, -0.3)]);
        let pool: Vec<usize> = (0..12).collect();
        let path = |threads: usize| {
            let pool_of_threads = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let aim = Aim { first: None, pool: &pool, tapered: false, most: 6, figure: regret };
            pool_of_threads.build().unwrap().install(|| select(&samples, &aim))
        };
        assert_eq!(path(1), path(3));
    }

    #[test]
    fn a_promise_is_what_the_fit_keeps() {
        let samples = Sample::chosen_by(400, &[(0, 0.8), (2, 0.1)]);
        let all: Vec<&Sample> = samples.iter().collect();
        let start = logit::fit(&all, &[0], &[0.0]);
        let curvature = curvature(&all, &[0], &start, &[2]);
        let outlook = Outlook { factor: curvature.hessian.factor(), curvature };
        let prospect = outlook.prospect(0, &start);
        let fitted = logit::fit(&all, &[0, 2], &[0.0; 2]);
        let fall = logit::penalised(&all, &[0], &start) - logit::penalised(&all, &[0, 2], &fitted);
        assert!((prospect.gain / fall - 1.0).abs() < 0.05, "{} and {fall}", prospect.gain);
        for (promised, fitted) in prospect.weights.iter().zip(&fitted) {
            assert!((promised - fitted).abs() < 0.01, "{promised} and {fitted}");
        }
    }
}
