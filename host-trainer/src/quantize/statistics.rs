//! What the float network's activations look like over the calibration positions.
use kibitzer_core::net::Layer;
use kibitzer_gpu::program::Signal;

/// Most rows kept of a signal, spread evenly over all that were seen.
const SAMPLES: usize = 2048;

/// The values of one signal of one layer.
#[derive(Debug, Clone)]
pub struct Observed {
    layer: Layer,
    signal: Signal,
    /// Largest magnitude of each channel.
    pub peaks: Vec<f64>,
    samples: Vec<f32>,
    /// Every how many rows one is kept.
    stride: usize,
    rows: usize,
    finite: bool,
}

impl Observed {
    fn new(layer: Layer, signal: Signal, width: usize) -> Observed {
        Observed {
            layer,
            signal,
            peaks: vec![0.0; width],
            samples: vec![],
            stride: 1,
            rows: 0,
            finite: true,
        }
    }

    fn add(&mut self, row: &[f32]) {
        for (peak, &x) in self.peaks.iter_mut().zip(row) {
            self.finite &= x.is_finite();
            *peak = peak.max(f64::from(x).abs());
        }
        if self.rows.is_multiple_of(self.stride) {
            self.samples.extend(row);
        }
        self.rows += 1;
        if self.samples.len() > SAMPLES * self.peaks.len() {
            self.thin();
        }
    }

    /// Keeps every other sample.
    fn thin(&mut self) {
        let width = self.peaks.len();
        let kept = self.samples.chunks_exact(width).step_by(2).flatten().copied().collect();
        self.samples = kept;
        self.stride *= 2;
    }

    /// Some of the rows seen, each as wide as [`Observed::peaks`].
    pub fn samples(&self) -> impl Iterator<Item = &[f32]> {
        self.samples.chunks_exact(self.peaks.len())
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

    /// What was seen of a signal.
    ///
    /// # Panics
    /// If nothing was.
    pub fn of(&self, layer: Layer, signal: Signal) -> &Observed {
        let found = self.signals.iter().find(|s| (s.layer, s.signal) == (layer, signal));
        found.unwrap_or_else(|| panic!("{layer:?} {signal:?} was not observed"))
    }
}
