//! How well choices do against a library's labels.
use std::{cmp::Ordering, collections::BTreeMap};

use kibitzer_core::{
    shakmaty::Position as _,
    viveka::{
        CANDIDATES, Drop, MATERIAL, TERMS, Tapered, Values, Weights, check_leaders, entropy, phase,
        scan_order, standings,
    },
};
use rayon::prelude::*;
use serde::Serialize;

use crate::{
    fit::{features::Features, logit::softmax},
    library::LabelledPosition,
};

/// A choice that drops this many winning-chance points is a blunder.
const BLUNDER: f64 = 15.0;
/// Temperature of the engine's move distribution, in winning-chance points.
const ENGINE_TEMPERATURE: f64 = 3.0;
/// List lengths for which the scan's recall is told.
const RECALL_AT: [usize; 4] = [4, 6, 8, 12];

/// A labelled position with all that Viveka says of its moves.
#[derive(Debug)]
pub struct Judged<'a> {
    /// The labels.
    pub labelled: &'a LabelledPosition,
    /// Score of each move, in points.
    pub scores: Vec<i32>,
    /// Scan points of each move.
    scans: Vec<i32>,
    /// Numbers of the moves in the scan's order.
    scan: Vec<usize>,
    /// The terms' values and the drops.
    features: &'a Features,
    /// Game phase, 24 (middlegame) to 0 (endgame).
    phase: i32,
}

/// Works out scores and candidates of every position, in parallel.
pub fn examine<'a>(
    positions: &[(&'a LabelledPosition, &'a Features)],
    weights: &Weights,
) -> Vec<Judged<'a>> {
    positions
        .par_iter()
        .map(|(labelled, features)| Judged::new(labelled, features, weights))
        .collect()
}

impl<'a> Judged<'a> {
    fn new(
        labelled: &'a LabelledPosition,
        features: &'a Features,
        weights: &Weights,
    ) -> Judged<'a> {
        let phase = phase(labelled.position.board());
        let scores: Vec<i32> = features.moves.iter().map(|v| weights.score(v, phase)).collect();
        let scans: Vec<i32> = features.moves.iter().map(|v| weights.scan(v)).collect();
        let mut scan: Vec<usize> = (0..scores.len()).collect();
        scan.sort_by_key(|&i| scan_order(scans[i], labelled.moves[i].mv));
        let judged = Judged { labelled, features, scores, scans, scan, phase };
        // The features keep the second looks: what rates the choices later, on one thread, finds
        // them there.
        judged.checked(weights);
        judged
    }

    /// Entropy of the move distribution, in thousandths of a nat.
    pub fn entropy(&self, weights: &Weights) -> i32 {
        entropy(&self.standings(weights), weights.temperature_at(self.phase))
    }

    /// The points with which each move enters the move distribution.
    fn standings(&self, weights: &Weights) -> Vec<i32> {
        let candidates: Vec<(i32, i32)> =
            self.totals(weights).into_iter().map(|(i, total)| (self.scans[i], total)).collect();
        let others: Vec<i16> =
            self.scan.iter().skip(CANDIDATES).map(|&i| self.scans[i] as i16).collect();
        standings(candidates.into_iter(), &others).to_vec()
    }

    /// Whether the board would flag the position as critical.
    pub fn is_flagged(&self, weights: &Weights) -> bool {
        weights.is_critical(self.scores.len(), self.entropy(weights))
    }

    /// The best moves by material alone.
    pub fn material(&self) -> Vec<usize> {
        self.best_by(|values| values[MATERIAL].into())
    }

    /// The best moves by the baseline, whose terms are in `rows` by name.
    pub fn v1(&self, rows: &[(&str, i32)]) -> Vec<usize> {
        let place = |name| TERMS.iter().position(|term| term.name == name);
        let terms: Vec<(usize, i32)> =
            rows.iter().filter_map(|&(name, weight)| Some((place(name)?, weight))).collect();
        self.best_by(|values| terms.iter().map(|&(term, w)| w * i32::from(values[term])).sum())
    }

    fn best_by(&self, score: impl Fn(&Values) -> i32) -> Vec<usize> {
        let scores: Vec<i32> = self.features.moves.iter().map(score).collect();
        best_of(scores.into_iter().enumerate())
    }

    /// The best moves by the score.
    pub fn score(&self) -> Vec<usize> {
        best_of((0..self.scores.len()).map(|i| (i, self.scores[i])))
    }

    /// The best candidates by the score.
    pub fn score_at_8(&self) -> Vec<usize> {
        best_of(self.scan.iter().take(CANDIDATES).map(|&i| (i, self.scores[i])))
    }

    /// The best candidates by the score with the check. The board looks twice at the first of
    /// those that lead together; here all of them are, so that those remain that would tie in
    /// whatever order: no order decides what a choice loses.
    pub fn checked(&self, weights: &Weights) -> Vec<usize> {
        let unchecked_first = |c: &Candidate| (-c.total, c.checked);
        best_of(self.totals_by(weights, unchecked_first).into_iter())
    }

    /// Numbers of the scan's candidates, its first choice first.
    pub fn candidates(&self) -> &[usize] {
        &self.scan[..CANDIDATES.min(self.scan.len())]
    }

    /// By how many points the best candidate leads the second, the check included; with fewer
    /// than two there is nothing to decide, and the lead is 0.
    pub fn margin(&self, weights: &Weights) -> i32 {
        let mut totals: Vec<i32> =
            self.totals(weights).into_iter().map(|(_, total)| total).collect();
        totals.sort_unstable();
        match totals[..] {
            [.., second, best] => best - second,
            _ => 0,
        }
    }

    /// The candidates with their scores less what the check takes off: two looks at whoever comes
    /// to lead, one at the others, as on the board.
    fn totals(&self, weights: &Weights) -> Vec<(usize, i32)> {
        let order = |c: &Candidate| {
            (-c.total, scan_order(self.scores[c.number], self.labelled.moves[c.number].mv))
        };
        self.totals_by(weights, order)
    }

    /// The candidates' totals if the leader is whoever `rank` puts first.
    fn totals_by<K: Ord>(
        &self,
        weights: &Weights,
        rank: impl Fn(&Candidate) -> K,
    ) -> Vec<(usize, i32)> {
        let total = |i: usize, points: i16| {
            let drop = Drop { points: points.into(), ..Drop::default() };
            self.scores[i] - weights.penalty(drop)
        };
        let once = |&i: &usize| Candidate {
            number: i,
            total: total(i, self.features.drops[i]),
            checked: false,
        };
        let mut all: Vec<Candidate> = self.candidates().iter().map(once).collect();
        check_leaders(
            &mut all,
            rank,
            |c| c.checked,
            |c| {
                let points = self.features.drop_twice(self.labelled, c.number);
                (c.total, c.checked) = (total(c.number, points), true);
            },
        );
        all.into_iter().map(|c| (c.number, c.total)).collect()
    }
}

/// A candidate while leaders are looked at twice.
struct Candidate {
    /// Its number among the moves.
    number: usize,
    /// Its score less what the check takes off.
    total: i32,
    /// Whether it was looked at twice.
    checked: bool,
}

/// The moves that share the highest value.
pub fn best_of(values: impl Iterator<Item = (usize, i32)> + Clone) -> Vec<usize> {
    let best = values.clone().map(|(_, value)| value).max();
    values.filter(|&(_, value)| Some(value) == best).map(|(i, _)| i).collect()
}

/// A way of choosing, by name: the numbers of the moves that tie for first.
pub type Way<'a> = (&'static str, Box<dyn Fn(&Judged) -> Vec<usize> + 'a>);

/// Viveka's ways of choosing, each with more in it than the one before; the last is the whole of
/// it. `v1` holds the baseline's terms and weights.
pub fn ways<'a>(v1: &'a [(&str, i32)], weights: &'a Weights) -> [Way<'a>; 5] {
    [
        ("material", Box::new(|p| p.material())),
        ("v1", Box::new(|p| p.v1(v1))),
        ("score", Box::new(|p| p.score())),
        ("score@8", Box::new(|p| p.score_at_8())),
        ("score@8+check", Box::new(|p| p.checked(weights))),
    ]
}

/// What a choice loses in centipawns: the mean over the moves that tie for it.
pub fn loss(labelled: &LabelledPosition, chosen: &[usize]) -> f64 {
    let total: f64 = chosen.iter().map(|&i| f64::from(labelled.loss(i))).sum();
    total / chosen.len().max(1) as f64
}

/// How a way of choosing did.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Outcome {
    /// Mean loss in centipawns; where moves tie for the choice, the mean over them.
    pub mean_loss: f64,
    /// Its standard error.
    pub se: f64,
    /// Share of positions where the engine's best move is chosen.
    pub best: f64,
    /// Share of choices that lose more than 100 cp.
    pub over100: f64,
    /// Share of choices that lose more than 300 cp.
    pub over300: f64,
    /// Share of choices that drop at least 15 winning-chance points.
    pub blunder: f64,
}

/// Rates the choices that `choose` makes: the numbers of the moves that tie for first.
pub fn choice(positions: &[Judged], mut choose: impl FnMut(&Judged) -> Vec<usize>) -> Outcome {
    let n = positions.len().max(1) as f64;
    let (mut losses, mut best, mut over100, mut over300, mut blunder) =
        (Vec::new(), 0.0, 0.0, 0.0, 0.0);
    for position in positions {
        let chosen = choose(position);
        let labelled = position.labelled;
        let share = |is: &dyn Fn(usize) -> bool| {
            chosen.iter().filter(|&&i| is(i)).count() as f64 / chosen.len().max(1) as f64
        };
        losses.push(loss(labelled, &chosen));
        best += share(&|i| labelled.loss(i) == 0);
        over100 += share(&|i| labelled.loss(i) > 100);
        over300 += share(&|i| labelled.loss(i) > 300);
        blunder += share(&|i| labelled.chance_loss(i) >= BLUNDER);
    }
    let mean = losses.iter().sum::<f64>() / n;
    let variance = losses.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    Outcome {
        mean_loss: mean,
        se: (variance / n).sqrt(),
        best: best / n,
        over100: over100 / n,
        over300: over300 / n,
        blunder: blunder / n,
    }
}

/// Mean loss of a move chosen at random, in centipawns.
pub fn random_loss(positions: &[Judged]) -> f64 {
    choice(positions, |p| (0..p.scores.len()).collect()).mean_loss
}

/// Share of positions with a wanted move among the scan's first `k`.
pub fn recall_at(
    positions: &[Judged],
    k: usize,
    wanted: impl Fn(&LabelledPosition, usize) -> bool,
) -> f64 {
    let found = |p: &&Judged| p.scan.iter().take(k).any(|&i| wanted(p.labelled, i));
    positions.iter().filter(found).count() as f64 / positions.len().max(1) as f64
}

/// [`recall_at`] for each list length told.
pub fn recall(
    positions: &[Judged],
    wanted: impl Fn(&LabelledPosition, usize) -> bool,
) -> BTreeMap<usize, f64> {
    RECALL_AT.into_iter().map(|k| (k, recall_at(positions, k, &wanted))).collect()
}

/// What [`recall`] would be of lists drawn at random.
pub fn random_recall(
    positions: &[Judged],
    wanted: impl Fn(&LabelledPosition, usize) -> bool,
) -> BTreeMap<usize, f64> {
    let found = |position: &Judged, k: usize| {
        let moves = position.scores.len();
        let others = (0..moves).filter(|&i| !wanted(position.labelled, i)).count();
        // None of the wanted among the first, the second, ... drawn.
        let missed = (0..k.min(moves))
            .map(|drawn| others.saturating_sub(drawn) as f64 / (moves - drawn) as f64);
        1.0 - missed.product::<f64>()
    };
    let mean =
        |k| positions.iter().map(|p| found(p, k)).sum::<f64>() / positions.len().max(1) as f64;
    RECALL_AT.into_iter().map(|k| (k, mean(k))).collect()
}

/// How well the entropy flags critical positions.
#[derive(Debug, Clone, Serialize)]
pub struct EntropyReport {
    /// Area under the ROC curve: the chance that a critical position has the lower entropy.
    /// `None` unless there are critical positions and others.
    pub auc: Option<f64>,
    /// The same of the best candidate's lead over the second: the simpler proxy at the board.
    pub margin_auc: Option<f64>,
    /// Rank correlation with the entropy of the engine's own soft targets.
    pub spearman: f64,
    /// Share of critical positions in each fifth, lowest entropy first.
    pub quintiles: Vec<f64>,
    /// Share of positions that are critical.
    pub critical: f64,
    /// Of the flagged positions, the share that is critical.
    pub flag_precision: f64,
    /// Of the critical positions, the share that is flagged.
    pub flag_recall: f64,
}

/// Rates the entropy at the weights' temperature, and the flag below their threshold.
pub fn entropy_report(positions: &[Judged], weights: &Weights) -> EntropyReport {
    let standings = Standings::of(positions, weights);
    let ours = standings.entropies(weights.temperature);
    // The largest lead first, as the lowest entropy.
    let leads: Vec<f64> = positions.iter().map(|p| (-p.margin(weights)).into()).collect();
    let critical: Vec<bool> = positions.iter().map(|p| p.labelled.is_critical()).collect();
    let flagged: Vec<bool> = positions.iter().map(|p| p.is_flagged(weights)).collect();
    let count = |of: &mut dyn Iterator<Item = bool>| of.filter(|&is| is).count() as f64;
    let both = count(&mut flagged.iter().zip(&critical).map(|(&f, &c)| f && c));
    let all_critical = count(&mut critical.iter().copied());
    EntropyReport {
        auc: auc(&ours, &critical),
        margin_auc: auc(&leads, &critical),
        spearman: standings.rate(weights.temperature).spearman,
        quintiles: quintiles(&ours, &critical),
        critical: all_critical / positions.len().max(1) as f64,
        flag_precision: both / count(&mut flagged.iter().copied()).max(1.0),
        flag_recall: both / all_critical.max(1.0),
    }
}

/// What the entropies of positions are worked out from and compared with, at any temperature.
#[derive(Debug)]
pub struct Standings {
    /// Of each position, the points of its moves in the move distribution, and the phase.
    moves: Vec<(Vec<i32>, i32)>,
    /// Entropy of the engine's soft targets, in nats.
    engine: Vec<f64>,
    /// Whether the position is critical.
    critical: Vec<bool>,
}

/// How well the entropy goes with the labels.
#[derive(Debug, Clone, Copy)]
pub struct EntropyRates {
    /// As in [`EntropyReport`].
    pub auc: Option<f64>,
    /// As in [`EntropyReport`].
    pub spearman: f64,
}

impl Standings {
    /// The standings of `positions`, all but τ as `weights` say.
    pub fn of(positions: &[Judged], weights: &Weights) -> Standings {
        Standings {
            moves: positions.iter().map(|p| (p.standings(weights), p.phase)).collect(),
            engine: positions.iter().map(|p| engine_entropy(p.labelled)).collect(),
            critical: positions.iter().map(|p| p.labelled.is_critical()).collect(),
        }
    }

    /// The entropies at this τ, in thousandths of a nat.
    fn entropies(&self, temperature: Tapered) -> Vec<f64> {
        let of = |(points, phase): &(Vec<i32>, i32)| {
            f64::from(entropy(points, temperature.times(1, *phase)))
        };
        self.moves.iter().map(of).collect()
    }

    /// Rates the entropies at this τ.
    pub fn rate(&self, temperature: Tapered) -> EntropyRates {
        let ours = self.entropies(temperature);
        EntropyRates { auc: auc(&ours, &self.critical), spearman: spearman(&ours, &self.engine) }
    }
}

/// Entropy of the engine's move distribution, `exp((W(m) − max W) / 3)` in winning-chance points,
/// normalised; in nats.
fn engine_entropy(position: &LabelledPosition) -> f64 {
    let chances = (0..position.moves.len()).map(|i| -position.chance_loss(i) / ENGINE_TEMPERATURE);
    let p = softmax(&chances.collect::<Vec<f64>>());
    -p.iter().filter(|&&p| p > 0.0).map(|p| p * p.ln()).sum::<f64>()
}

/// Ranks from 1, the mean rank where values tie.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    for tied in order.chunk_by(|&a, &b| values[a].total_cmp(&values[b]) == Ordering::Equal) {
        let first = order.partition_point(|&i| values[i] < values[tied[0]]);
        let rank = first as f64 + (tied.len() as f64 + 1.0) / 2.0;
        tied.iter().for_each(|&i| ranks[i] = rank);
    }
    ranks
}

/// Mann–Whitney: the chance that a marked value lies below an unmarked one, ties counting half.
fn auc(values: &[f64], marked: &[bool]) -> Option<f64> {
    let n = marked.iter().filter(|&&m| m).count() as f64;
    let others = values.len() as f64 - n;
    let ranks = ranks(values);
    let sum: f64 = ranks.iter().zip(marked).filter(|(_, m)| **m).map(|(r, _)| r).sum();
    (n * others > 0.0).then(|| 1.0 - (sum - n * (n + 1.0) / 2.0) / (n * others))
}

/// Spearman's rank correlation.
fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 + 1.0) / 2.0;
    let sum = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    sum(&a, &b) / (sum(&a, &a) * sum(&b, &b)).sqrt().max(f64::MIN_POSITIVE)
}

/// Share of marked entries in each fifth of the values, lowest first. Where values tie, each
/// counts with their mean: the order in the file must not decide.
fn quintiles(values: &[f64], marked: &[bool]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let tied = order.chunk_by(|&a, &b| values[a].total_cmp(&values[b]) == Ordering::Equal);
    let shares: Vec<f64> = tied
        .flat_map(|tied| {
            let share = tied.iter().filter(|&&i| marked[i]).count() as f64 / tied.len() as f64;
            std::iter::repeat_n(share, tied.len())
        })
        .collect();
    let n = shares.len();
    let fifth = |k: usize| &shares[n * k / 5..n * (k + 1) / 5];
    (0..5).map(|k| fifth(k).iter().sum::<f64>() / fifth(k).len().max(1) as f64).collect()
}

#[cfg(test)]
mod tests {
    use kibitzer_core::{
        position::parse_fen,
        shakmaty::Position as _,
        viveka::{FITTED, TERM_COUNT},
    };

    use super::*;
    use crate::library::LabelledMove;

    /// Three moves, alike in everything but what a second look finds.
    #[test]
    fn all_that_lead_together_get_a_second_look() {
        let position = parse_fen("7k/8/8/8/8/8/8/R6K w - - 0 1").unwrap();
        let moves = position.legal_moves().into_iter().take(3);
        let moves = moves.map(|mv| LabelledMove { mv, score: 0, top: false }).collect();
        let labelled =
            LabelledPosition { opening: "x".into(), moves, position, last: None, lines: vec![] };
        let features = Features::of(vec![[0; TERM_COUNT]; 3], vec![0; 3]);
        for (i, points) in [500, 0, 0].into_iter().enumerate() {
            features.expect_twice(i, points);
        }
        let judged = Judged::new(&labelled, &features, &FITTED);
        assert_eq!(judged.checked(&FITTED), [1, 2], "whatever comes first");
    }

    #[test]
    fn ranks_share_ties() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
    }

    #[test]
    fn auc_counts_pairs() {
        let marked = [true, false, true, false];
        assert_eq!(auc(&[1.0, 2.0, 3.0, 4.0], &marked), Some(0.75));
        assert_eq!(auc(&[1.0; 4], &marked), Some(0.5));
        assert_eq!(auc(&[1.0; 2], &[true; 2]), None);
    }

    #[test]
    fn quintiles_share_ties() {
        let values = [1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
        let marked: Vec<bool> = (0..10).map(|i| i == 0 || i == 9).collect();
        assert_eq!(quintiles(&values, &marked), [0.5, 0.0, 0.0, 0.0, 0.5]);
        let same = [1.0; 10];
        assert_eq!(quintiles(&same, &marked), [0.2; 5]);
    }

    #[test]
    fn spearman_sees_order_only() {
        assert!((spearman(&[1.0, 2.0, 3.0], &[1.0, 8.0, 9.0]) - 1.0).abs() < 1e-12);
        assert!((spearman(&[1.0, 2.0, 3.0], &[5.0, 0.0, -5.0]) + 1.0).abs() < 1e-12);
    }
}
