//! Sums over positions from which the report follows.
use kibitzer_gpu::{Batch, Outputs};

use super::{MaterialReport, Report, ValueReport};

/// Bins of the calibration error over the values from −1 to 1.
const BINS: usize = 10;

#[derive(Debug, Default)]
pub(super) struct Tally {
    moves: Moves,
    values: Values,
}

#[derive(Debug, Default)]
struct Moves {
    positions: usize,
    top1: f64,
    top5: f64,
    cross_entropy: f64,
}

#[derive(Debug, Default)]
struct Values {
    count: f64,
    sum: f64,
    squares: f64,
    result_sum: f64,
    result_squares: f64,
    products: f64,
    errors: f64,
    /// Count, sum of values and sum of results by bin.
    bins: [(f64, f64, f64); BINS],
}

impl Tally {
    /// Adds a batch with its targets and what a network says of it.
    pub(super) fn add(&mut self, batch: &Batch, outputs: &Outputs) {
        for i in 0..batch.positions() {
            let entries = batch.entries(i);
            self.policy(&outputs.logits[entries.clone()], &batch.target_policy[entries]);
            self.value(outputs.values[i], batch.target_value[i]);
        }
    }

    /// Adds one position's legal logits and the wanted probabilities.
    fn policy(&mut self, logits: &[f32], wanted: &[f32]) {
        let most = wanted.iter().copied().fold(0.0, f32::max);
        let best = logits.iter().zip(wanted).filter(|pair| *pair.1 == most).map(|pair| *pair.0);
        let ways = best.clone().count() as f64;
        self.moves.positions += 1;
        self.moves.top1 += best.clone().map(|own| among(logits, own, 1)).sum::<f64>() / ways;
        self.moves.top5 += best.map(|own| among(logits, own, 5)).sum::<f64>() / ways;
        let expected: f64 =
            logits.iter().zip(wanted).map(|(&x, &q)| f64::from(x) * f64::from(q)).sum();
        self.moves.cross_entropy += log_sum_exp(logits) - expected;
    }

    /// Adds one position's value and its target.
    fn value(&mut self, value: f32, result: f32) {
        let (x, y) = (f64::from(value), f64::from(result));
        let values = &mut self.values;
        values.count += 1.0;
        values.sum += x;
        values.squares += x * x;
        values.result_sum += y;
        values.result_squares += y * y;
        values.products += x * y;
        values.errors += (x - y).powi(2);
        let bin = ((x + 1.0) / 2.0 * BINS as f64) as usize;
        let (count, sum, results) = &mut values.bins[bin.min(BINS - 1)];
        *count += 1.0;
        *sum += x;
        *results += y;
    }

    pub(super) fn report(&self, material: MaterialReport) -> Report {
        let Moves { positions, top1, top5, cross_entropy } = self.moves;
        let mean = |sum: f64| sum / positions as f64;
        Report {
            positions,
            top1: mean(top1),
            top5: mean(top5),
            cross_entropy: mean(cross_entropy),
            value: self.values.report(),
            material,
        }
    }
}

impl Values {
    fn report(&self) -> ValueReport {
        let Values { count, sum, squares, result_sum, result_squares, products, errors, bins } =
            self;
        let covariance = products - sum * result_sum / count;
        let variance = squares - sum * sum / count;
        let result_variance = result_squares - result_sum * result_sum / count;
        let distance: f64 = bins.iter().map(|(_, sum, results)| (sum - results).abs()).sum();
        ValueReport {
            correlation: covariance / (variance * result_variance).sqrt(),
            ece: distance / count,
            mse: errors / count,
        }
    }
}

/// The chance that a move of logit `own` is among the first k if ties are broken at random.
fn among(logits: &[f32], own: f32, k: usize) -> f64 {
    let higher = logits.iter().filter(|&&x| x > own).count() as f64;
    let equal = logits.iter().filter(|&&x| x == own).count() as f64;
    // A logit that is no number is not even equal to itself, and finds nothing.
    if equal > 0.0 { ((k as f64 - higher) / equal).clamp(0.0, 1.0) } else { 0.0 }
}

/// ln Σ exp(x), without overflow.
fn log_sum_exp(logits: &[f32]) -> f64 {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|&x| f64::from(x - highest).exp()).sum();
    f64::from(highest) + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(tally: &Tally) -> Report {
        tally.report(MaterialReport { pairs: 0, pass_rate: f64::NAN })
    }

    #[test]
    fn ties_share_and_ranks_count() {
        let mut tally = Tally::default();
        tally.policy(&[2.0, 1.0, 0.0], &[1.0, 0.0, 0.0]);
        assert_eq!((report(&tally).top1, report(&tally).top5), (1.0, 1.0));
        let mut wanted = [0.0; 20];
        wanted[3] = 1.0;
        tally.policy(&[0.0; 20], &wanted);
        assert_eq!(report(&tally).top1, (1.0 + 1.0 / 20.0) / 2.0);
        assert_eq!(report(&tally).top5, (1.0 + 5.0 / 20.0) / 2.0);
        tally.policy(&[9.0, 8.0, 7.0, 6.0, 5.0, 4.0], &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        assert_eq!(report(&tally).top5, 1.25 / 3.0);
    }

    #[test]
    fn cross_entropy_is_in_nats_and_does_not_overflow() {
        let mut tally = Tally::default();
        tally.policy(&[300.0, 300.0], &[0.0, 1.0]);
        assert!((report(&tally).cross_entropy - 2f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn dense_targets_weigh_their_moves_and_the_most_wanted_ones_count() {
        let mut tally = Tally::default();
        let (quarter, half) = (0.25f32, 0.5f32);
        // Probabilities ¼, ½, ¼ against targets ½, ½, 0: the first and the second are wanted.
        tally.policy(&[quarter.ln(), half.ln(), quarter.ln()], &[0.5, 0.5, 0.0]);
        let report = report(&tally);
        assert_eq!((report.top1, report.top5), (0.5, 1.0));
        let expected = 0.5 * 4f64.ln() + 0.5 * 2f64.ln();
        assert!((report.cross_entropy - expected).abs() < 1e-6);
    }

    #[test]
    fn values_are_compared_with_results() {
        let mut tally = Tally::default();
        tally.policy(&[0.0], &[1.0]);
        for (value, result) in [(0.5, 1.0), (-0.5, -1.0), (0.5, 1.0), (-0.5, -1.0)] {
            tally.value(value, result);
        }
        let value = report(&tally).value;
        assert!((value.correlation - 1.0).abs() < 1e-12);
        assert!((value.mse - 0.25).abs() < 1e-12);
        assert!((value.ece - 0.5).abs() < 1e-12);
        // One bin in which too high and too low even out is calibrated.
        let mut tally = Tally::default();
        for result in [1.0, -1.0] {
            tally.value(0.0, result);
        }
        assert_eq!(tally.values.report().ece, 0.0);
    }

    #[test]
    fn the_ends_of_the_scale_have_bins() {
        let mut tally = Tally::default();
        tally.value(1.0, 1.0);
        tally.value(-1.0, -1.0);
        assert_eq!(tally.values.report().ece, 0.0);
    }
}
