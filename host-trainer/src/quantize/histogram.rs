//! How often a channel had which magnitudes.

/// Counts of magnitudes, eight classes to each doubling: a class is the magnitude's upper bits.
#[derive(Debug, Clone, Default)]
pub struct Histogram {
    counts: Vec<u32>,
    /// The class of the first count.
    first: u32,
}

/// Bits of an `f32` that are below a class's: of 23 bits of the mantissa three count.
const BELOW: u32 = 20;
/// Classes to a doubling.
const DOUBLING: u32 = 1 << (23 - BELOW);
/// Magnitudes less than the largest one by so many doublings are taken for zero.
const DEPTH: u32 = 24;

/// Shares of the peak that are tried as ranges.
const SHARES: [f64; 17] =
    [1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2];

impl Histogram {
    /// Counts `x`.
    pub fn add(&mut self, x: f32) {
        let class = x.abs().to_bits() >> BELOW;
        if self.counts.is_empty() {
            self.first = class.saturating_sub(DEPTH * DOUBLING);
        }
        let Some(index) = class.checked_sub(self.first) else { return };
        let index = index as usize;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
    }

    /// Each class that occurred: the magnitude in its middle, and how often.
    fn classes(&self) -> impl Iterator<Item = (f64, f64)> {
        let middle = |class: u32| f64::from(f32::from_bits(class << BELOW | 1 << (BELOW - 1)));
        let counts = (self.first..).zip(&self.counts).filter(|&(_, &count)| count > 0);
        counts.map(move |(class, &count)| (middle(class), f64::from(count)))
    }

    /// The range, up to `peak`, that leaves the least squared error when `steps` steps reach it.
    /// What is above it is cut there; what is below half a step becomes zero; between the two the
    /// rounding's error is spread evenly.
    pub fn best_range(&self, peak: f64, steps: f64) -> f64 {
        let classes: Vec<(f64, f64)> = self.classes().collect();
        let error = |range: f64| -> f64 {
            let unit = range / steps;
            let one = |x: f64| match x {
                x if x > range => (x - range).powi(2),
                x if x < unit / 2.0 => x * x,
                _ => unit * unit / 12.0,
            };
            classes.iter().map(|&(x, count)| count * one(x)).sum()
        };
        let ranges = SHARES.map(|share| share * peak);
        ranges.into_iter().min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap_or(peak)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(values: impl Iterator<Item = f32> + Clone, steps: f64) -> f64 {
        let mut histogram = Histogram::default();
        values.clone().for_each(|x| histogram.add(x));
        histogram.best_range(f64::from(values.fold(0f32, |most, x| most.max(x.abs()))), steps)
    }

    #[test]
    fn even_magnitudes_are_not_cut() {
        let even = (1..=1000).map(|i| i as f32 * if i % 2 == 0 { 0.001 } else { -0.001 });
        assert_eq!(range(even, 127.0), 1.0);
        assert_eq!(range([0.0; 3].into_iter(), 127.0), 0.0);
    }

    #[test]
    fn a_rare_peak_is_cut_where_steps_are_few() {
        let tail = (0..100_000).map(|i| if i == 77 { 3.0 } else { 0.5 + (i % 7) as f32 * 0.1 });
        let (few, many) = (range(tail.clone(), 31.0), range(tail, 1023.0));
        assert!((1.0..2.0).contains(&few), "{few}");
        assert_eq!(many, 3.0);
    }

    #[test]
    fn the_order_of_magnitudes_does_not_matter() {
        // The first seen is the class that counting starts from.
        let rising = (1..5000).map(|i| i as f32);
        assert_eq!(range(rising.clone(), 15.0), range(rising.rev(), 15.0));
    }
}
