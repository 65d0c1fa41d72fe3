//! What the float network's activations look like over the calibration positions.
use std::ops::Range;

use kibitzer_core::net::Layer;
use kibitzer_gpu::program::Signal;

use super::histogram::Histogram;

/// Most rows kept of a signal, spread over all that were seen.
const SAMPLES: usize = 4096;

/// The values of one signal of one layer.
#[derive(Debug, Clone)]
pub struct Observed {
    layer: Layer,
    signal: Signal,
    /// Largest magnitude of each channel.
    pub peaks: Vec<f64>,
    magnitudes: Vec<Histogram>,
    samples: Vec<f32>,
    /// Of each sample, where the golden ratio puts its row among all: a spread that no period of
    /// the rows, such as the squares of a board, falls in step with.
    places: Vec<u64>,
    /// Leading zeros that a place must have to be kept.
    sieve: u32,
    rows: u64,
    finite: bool,
}

impl Observed {
    fn new(layer: Layer, signal: Signal, width: usize) -> Observed {
        Observed {
            layer,
            signal,
            peaks: vec![0.0; width],
            magnitudes: vec![Histogram::default(); width],
            samples: vec![],
            places: vec![],
            sieve: 0,
            rows: 0,
            finite: true,
        }
    }

    fn add(&mut self, row: &[f32]) {
        for (peak, &x) in self.peaks.iter_mut().zip(row) {
            self.finite &= x.is_finite();
            *peak = peak.max(f64::from(x).abs());
        }
        for (magnitudes, &x) in self.magnitudes.iter_mut().zip(row) {
            magnitudes.add(x);
        }
        let place = self.rows.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.rows += 1;
        if place.leading_zeros() >= self.sieve {
            self.samples.extend(row);
            self.places.push(place);
        }
        if self.places.len() > SAMPLES {
            self.thin();
        }
    }

    /// Keeps about half of the samples.
    fn thin(&mut self) {
        self.sieve += 1;
        let samples = self.samples.chunks_exact(self.peaks.len());
        let kept = samples.zip(&self.places).filter(|(_, p)| p.leading_zeros() >= self.sieve);
        self.samples = kept.flat_map(|(sample, _)| sample).copied().collect();
        self.places.retain(|place| place.leading_zeros() >= self.sieve);
    }

    /// Some of the rows seen, of each only `columns`.
    pub fn samples(&self, columns: Range<usize>) -> impl Iterator<Item = &[f32]> + Clone {
        self.samples.chunks_exact(self.peaks.len()).map(move |row| &row[columns.clone()])
    }

    /// Of each channel, the magnitude whose reach in `steps` steps leaves the least squared error.
    pub fn ranges(&self, steps: f64) -> Vec<f64> {
        let channels = self.magnitudes.iter().zip(&self.peaks);
        channels.map(|(magnitudes, &peak)| magnitudes.best_range(peak, steps)).collect()
    }

    /// The layer and the signal.
    pub const fn name(&self) -> (Layer, Signal) {
        (self.layer, self.signal)
    }

    /// Number of channels.
    pub const fn width(&self) -> usize {
        self.peaks.len()
    }

    /// Largest magnitude of all channels.
    pub fn peak(&self) -> f64 {
        self.peaks.iter().copied().fold(0.0, f64::max)
    }
}

/// All signals seen.
#[derive(Debug, Clone, Default)]
pub struct Statistics {
    signals: Vec<Observed>,
}

impl Statistics {
    /// Adds rows of `width` values of a signal.
    ///
    /// # Panics
    /// If the signal was seen with another width before.
    pub fn observe<'r>(
        &mut self,
        layer: Layer,
        signal: Signal,
        width: usize,
        rows: impl Iterator<Item = &'r [f32]>,
    ) {
        let found = self.signals.iter().position(|s| (s.layer, s.signal) == (layer, signal));
        let index = found.unwrap_or_else(|| {
            self.signals.push(Observed::new(layer, signal, width));
            self.signals.len() - 1
        });
        assert_eq!(self.signals[index].peaks.len(), width, "{layer:?} {signal:?}");
        rows.for_each(|row| self.signals[index].add(row));
    }

    /// Whether every value was finite.
    pub fn is_finite(&self) -> bool {
        self.signals.iter().all(|signal| signal.finite)
    }

    /// Every signal seen.
    pub fn signals(&self) -> &[Observed] {
        &self.signals
    }

    /// What was seen of a signal.
    ///
    /// # Panics
    /// If nothing was.
    pub fn of(&self, layer: Layer, signal: Signal) -> &Observed {
        let found = self.signals.iter().find(|s| (s.layer, s.signal) == (layer, signal));
        found.unwrap_or_else(|| panic!("{layer:?} {signal:?} was not observed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_from_every_square() {
        let mut statistics = Statistics::default();
        for position in 0..1000 {
            let rows: Vec<f32> =
                (0..64u8).flat_map(|square| [f32::from(square), -position as f32]).collect();
            statistics.observe(Layer::Pool, Signal::Output, 2, rows.chunks_exact(2));
        }
        let observed = statistics.of(Layer::Pool, Signal::Output);
        assert_eq!(observed.peaks, [63.0, 999.0]);
        let mut counts = [0; 64];
        let mut positions = 0.0;
        for sample in observed.samples(0..2) {
            counts[sample[0] as usize] += 1;
            positions -= sample[1];
        }
        let total: u32 = counts.iter().sum();
        assert!((SAMPLES as u32 / 3..=SAMPLES as u32).contains(&total), "{total}");
        let even = total / 64;
        assert!(counts.iter().all(|&n| (even / 2..=2 * even).contains(&n)), "{counts:?}");
        assert!((positions / total as f32 - 500.0).abs() < 25.0);
        assert!(statistics.is_finite());
        statistics.observe(
            Layer::Pool,
            Signal::Output,
            2,
            [[0.0, f32::NAN]].iter().map(|r| &r[..]),
        );
        assert!(!statistics.is_finite());
    }
}
