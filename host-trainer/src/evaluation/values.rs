//! Values against their targets.
use serde::Serialize;

/// Bins of the calibration over the values from −1 to 1.
const BINS: usize = 10;

/// The value head against its targets.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ValueReport {
    /// Pearson's correlation; null where either side does not vary.
    pub correlation: f64,
    /// Expected calibration error: ten equal bins of the value, the mean distance between mean
    /// value and mean target, weighted by the positions in them (Guo et al., On Calibration of
    /// Modern Neural Networks, for a value instead of a probability).
    pub ece: f64,
    /// Mean squared error.
    pub mse: f64,
    /// Variance of the targets: the squared error of their mean, which knows no position.
    pub target_variance: f64,
    /// The bins that hold positions, from the lowest value on.
    pub reliability: Vec<Bin>,
}

/// Positions whose values are alike.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bin {
    /// Mean value, from −1 to 1.
    pub value: f64,
    /// Mean target, from −1 to 1.
    pub target: f64,
    /// Number of positions.
    pub positions: u64,
}

/// Sums over positions.
#[derive(Debug, Clone, Default)]
pub(super) struct Values {
    count: f64,
    sum: f64,
    squares: f64,
    target_sum: f64,
    target_squares: f64,
    products: f64,
    errors: f64,
    /// Count, sum of values and sum of targets by bin.
    bins: [(u64, f64, f64); BINS],
}

impl Values {
    /// Adds one position's value and its target.
    pub(super) fn add(&mut self, value: f32, target: f32) {
        let (x, y) = (f64::from(value), f64::from(target));
        self.count += 1.0;
        self.sum += x;
        self.squares += x * x;
        self.target_sum += y;
        self.target_squares += y * y;
        self.products += x * y;
        self.errors += (x - y).powi(2);
        let bin = ((x + 1.0) / 2.0 * BINS as f64) as usize;
        let (count, sum, targets) = &mut self.bins[bin.min(BINS - 1)];
        *count += 1;
        *sum += x;
        *targets += y;
    }

    pub(super) fn report(&self) -> ValueReport {
        let Values { count, sum, squares, target_sum, target_squares, products, errors, bins } =
            self;
        let covariance = products - sum * target_sum / count;
        let variance = squares - sum * sum / count;
        let target_variance = target_squares - target_sum * target_sum / count;
        let distance: f64 = bins.iter().map(|(_, sum, targets)| (sum - targets).abs()).sum();
        let filled = bins.iter().filter(|bin| bin.0 > 0);
        let bin = |&(positions, sum, targets): &(u64, f64, f64)| {
            let mean = |total: f64| total / positions as f64;
            Bin { value: mean(sum), target: mean(targets), positions }
        };
        ValueReport {
            correlation: covariance / (variance * target_variance).sqrt(),
            ece: distance / count,
            mse: errors / count,
            target_variance: target_variance / count,
            reliability: filled.map(bin).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(pairs: &[(f32, f32)]) -> ValueReport {
        let mut values = Values::default();
        pairs.iter().for_each(|&(value, target)| values.add(value, target));
        values.report()
    }

    #[test]
    fn values_are_compared_with_targets() {
        let value = report(&[(0.5, 1.0), (-0.5, -1.0), (0.5, 1.0), (-0.5, -1.0)]);
        assert!((value.correlation - 1.0).abs() < 1e-12);
        assert!((value.mse - 0.25).abs() < 1e-12);
        assert!((value.ece - 0.5).abs() < 1e-12);
        assert_eq!(value.target_variance, 1.0);
        let bins = [
            Bin { value: -0.5, target: -1.0, positions: 2 },
            Bin { value: 0.5, target: 1.0, positions: 2 },
        ];
        assert_eq!(value.reliability, bins);
        // One bin in which too high and too low even out is calibrated.
        assert_eq!(report(&[(0.0, 1.0), (0.0, -1.0)]).ece, 0.0);
    }

    #[test]
    fn the_ends_of_the_scale_have_bins() {
        assert_eq!(report(&[(1.0, 1.0), (-1.0, -1.0)]).ece, 0.0);
    }
}
