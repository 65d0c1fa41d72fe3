//! Weights of 4 bits, a scale for each block of columns.
use kibitzer_core::net::{
    WeightBits,
    kbz::{BLOCK_GROUPS, GROUP, Layout},
};

use super::rounding::Metric;

/// Columns that share a scale.
const BLOCK: usize = BLOCK_GROUPS * GROUP;
/// Largest scale of a block.
const MOST: f64 = 15.0;
/// A weight is a scale times one of these.
const LEVELS: std::ops::RangeInclusive<f64> = -8.0..=7.0;
/// The nibble of a weight that is zero.
const ZERO: i8 = 8;
/// Largest weight of a block that keeps its size, as a share of the largest: the one that leaves
/// the least error is taken.
const CLIPS: [f64; 6] = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5];
/// A row's unit, as shares of the one that gives its largest block the largest scale: the best is
/// taken.
const UNITS: [f64; 6] = [1.1, 1.05, 1.0, 0.95, 0.9, 0.85];

/// A row's weights: `weights[c] · unit` each, where a weight is one of sixteen levels times its
/// block's scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    weights: Vec<i8>,
    scales: Vec<u8>,
    /// What a step of the row's sum counts.
    pub unit: f64,
}

impl Row {
    /// Quantizes a row of weights, in steps of the inputs.
    pub fn new(steps: &[f64], metric: &Metric) -> Row {
        let ideal: Vec<f64> = steps.chunks(BLOCK).map(level).collect();
        let most = ideal.iter().copied().fold(0.0, f64::max);
        if most == 0.0 {
            let scales = vec![0; ideal.len()];
            return Row { weights: vec![0; steps.len()], scales, unit: 0.0 };
        }
        let candidates =
            UNITS.map(|share| Row::rounded(steps, &ideal, share * most / MOST, metric));
        let best = candidates.into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let (row, error) = best.expect("there are candidates");
        row.refined(steps, error, metric)
    }

    /// The row with this unit, blocks' scales being the nearest to `ideal`, and its error.
    fn rounded(steps: &[f64], ideal: &[f64], unit: f64, metric: &Metric) -> (Row, f64) {
        // A block of zeros keeps a scale of 1, and may take part in the others' corrections.
        let scale = |level: &f64| (level / unit).round().clamp(1.0, MOST) as u8;
        Row::with_scales(steps, ideal.iter().map(scale).collect(), unit, metric)
    }

    fn with_scales(steps: &[f64], scales: Vec<u8>, unit: f64, metric: &Metric) -> (Row, f64) {
        let weights: Vec<f64> = steps.iter().map(|w| w / unit).collect();
        let nearest = |column: usize, target: f64| {
            let scale = f64::from(scales[column / BLOCK]);
            (nearest_level(target / scale) * scale) as i8
        };
        let (weights, error) = metric.round(&weights, nearest);
        (Row { weights, scales, unit }, error * unit * unit)
    }

    /// The row with each block's scale in turn moved to a neighbour while that leaves less error.
    fn refined(self, steps: &[f64], mut error: f64, metric: &Metric) -> Row {
        let mut best = self;
        for block in (0..best.scales.len()).rev() {
            for change in [-1, 1, -2, 2] {
                let scale = best.scales[block].cast_signed() + change;
                if !(1..=MOST as i8).contains(&scale) {
                    continue;
                }
                let mut scales = best.scales.clone();
                scales[block] = scale.cast_unsigned();
                let (row, smaller) = Row::with_scales(steps, scales, best.unit, metric);
                if smaller < error {
                    (best, error) = (row, smaller);
                }
            }
        }
        best
    }

    /// The nibble of a column.
    fn nibble(&self, column: usize) -> u8 {
        match (self.weights.get(column), self.scales.get(column / BLOCK)) {
            (Some(weight), Some(&scale)) if scale > 0 => {
                (weight / scale.cast_signed() + ZERO).cast_unsigned()
            }
            _ => ZERO.cast_unsigned(),
        }
    }
}

fn nearest_level(x: f64) -> f64 {
    x.round().clamp(*LEVELS.start(), *LEVELS.end())
}

/// The step between levels that leaves a block's weights the least squared error.
fn level(block: &[f64]) -> f64 {
    let most = block.iter().fold(0.0, |most: f64, w| most.max(w.abs()));
    if most == 0.0 {
        return 0.0;
    }
    let error = |step: f64| -> f64 {
        block.iter().map(|w| (w - nearest_level(w / step) * step).powi(2)).sum()
    };
    let steps = CLIPS.map(|clip| most * clip / *LEVELS.end());
    steps.into_iter().min_by(|&a, &b| error(a).total_cmp(&error(b))).unwrap_or(most)
}

/// The rows as they lie in the file.
pub fn packed(rows: &[Row], columns: usize) -> Vec<i8> {
    let layout = Layout::new(rows.len(), columns).with_bits(WeightBits::Four);
    let mut packed = Vec::with_capacity(layout.bytes());
    for pair in rows.chunks(2) {
        let [first, second] = [pair.first(), pair.get(1)];
        let start = packed.len();
        for column in 0..layout.groups() * GROUP {
            let [low, high] = [first, second].map(|row| {
                row.map_or(ZERO.cast_unsigned(), |row| row.nibble(Layout::column(column)))
            });
            packed.push((low | high << 4).cast_signed());
        }
        for block in 0..layout.groups().div_ceil(BLOCK_GROUPS) {
            let [low, high] = [first, second]
                .map(|row| row.and_then(|row| row.scales.get(block)).map_or(0, |&s| s));
            packed.push((low | high << 4).cast_signed());
        }
        packed.resize(start + layout.pair_bytes(), 0);
    }
    packed
}

#[cfg(test)]
mod tests {
    use kibitzer_core::net::kbz::expand;

    use super::*;

    /// Weights of very different size in each block.
    fn weights(columns: usize, seed: usize) -> Vec<f64> {
        let weight = |c: usize| {
            let size = [1.0, 0.2, 0.0, 0.05][c / BLOCK % 4];
            ((c * 7919 + seed * 104_729) % 1013) as f64 / 506.0 * size - size
        };
        (0..columns).map(weight).collect()
    }

    fn metric(columns: usize) -> Metric {
        Metric::new(std::iter::empty(), &vec![1.0; columns])
    }

    #[test]
    fn what_the_core_expands_is_what_was_rounded() {
        for (rows, columns) in [(1, 1), (2, 32), (3, 70), (4, 130)] {
            let metric = metric(columns);
            let rows: Vec<Row> =
                (0..rows).map(|row| Row::new(&weights(columns, row), &metric)).collect();
            let packed = packed(&rows, columns);
            let layout = Layout::new(rows.len(), columns).with_bits(WeightBits::Four);
            assert_eq!(packed.len(), layout.bytes());
            let bytes = Layout::new(2, columns);
            for (pair, packed) in rows.chunks(2).zip(packed.chunks(layout.pair_bytes())) {
                let packed: Vec<u8> = packed.iter().map(|&b| b.cast_unsigned()).collect();
                let mut out = vec![0; bytes.bytes()];
                expand(&packed, &mut out);
                for (row, quantized) in pair.iter().enumerate() {
                    for (column, &weight) in quantized.weights.iter().enumerate() {
                        assert_eq!(out[bytes.index(row, column)].cast_signed(), weight);
                    }
                }
            }
        }
    }

    #[test]
    fn small_blocks_keep_their_own_precision() {
        let exact = weights(128, 3);
        let row = Row::new(&exact, &metric(128));
        for (block, (exact, rounded)) in
            exact.chunks(BLOCK).zip(row.weights.chunks(BLOCK)).enumerate()
        {
            let most = exact.iter().fold(0.0, |most: f64, w| most.max(w.abs()));
            for (w, &q) in exact.iter().zip(rounded) {
                let error = (w - f64::from(q) * row.unit).abs();
                assert!(error <= 0.15 * most, "block {block}: {w} is {q} of {}", row.unit);
            }
        }
    }

    #[test]
    fn a_row_of_zeros_is_zero() {
        let row = Row::new(&[0.0; 40], &metric(40));
        assert_eq!((row.unit, row.weights), (0.0, vec![0; 40]));
    }
}
