//! Where the integers' errors come from: the streams compared layer by layer, and the inputs of
//! matrices with their ranges.
use std::fmt;

use anyhow::Result;
use kibitzer_core::net::{Layer, infer::Snapshot, layers, scratch_bytes};
use kibitzer_gpu::{Backend as _, Batch, OptimizerState, cpu::Cpu, program::Signal};
use serde::Serialize;

use super::{InputRanges, Integer, calibration::CHUNK, integer::inputs};
use crate::model::Model;

/// How well a layer's output follows the float network's, all errors before it included.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayerReport {
    /// The layer, as in `encoder 2 attention`.
    pub layer: String,
    /// Power of the float output over that of the integers' error, in decibels; each channel in
    /// the unit that fits best.
    pub signal_to_noise: f64,
    /// By how much the layer raised the power of its stream's error, as a share of the error at
    /// the stream's end; `None` for a layer that adds to no stream.
    pub added: Option<f64>,
    /// Share of its matrices' inputs that are beyond their range in the float network.
    pub clipped: f64,
    /// Share of the outputs that stand at the end of their integers' range.
    pub saturated: f64,
}

impl fmt::Display for LayerReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { layer, signal_to_noise, added, clipped, saturated } = self;
        let added = added.map_or(String::new(), |share| format!("{:.1} %", 100.0 * share));
        let [clipped, saturated] = [clipped, saturated].map(|share| 100.0 * share);
        write!(
            f,
            "{layer:22} {signal_to_noise:6.1} dB {added:>8} {clipped:8.4} % {saturated:8.4} %"
        )
    }
}

/// Compares the layers up to the heads on `batches`, none larger than [`CHUNK`] positions, with at
/// least one position. `ranges` are those of the integers' matrices.
///
/// # Errors
/// If a batch is malformed.
pub fn compare(
    model: &Model,
    integer: &Integer,
    ranges: &[InputRanges],
    batches: &[Batch],
) -> Result<Vec<LayerReport>> {
    let mut cpu = Cpu::by_operation(&model.config, 0, CHUNK)?;
    cpu.restore(&model.parameters, &OptimizerState::new(model.parameters.len()))?;
    let width = model.config.width as usize;
    let compared = layers(&model.config).filter(|layer| !is_head(layer));
    let mut all: Vec<Comparison> = compared.map(|layer| Comparison::new(layer, width)).collect();
    let network = integer.network()?;
    let mut scratch = vec![0; scratch_bytes(&model.config)];
    for batch in batches {
        cpu.evaluate(batch)?;
        for comparison in &mut all {
            comparison.count_clipped(&cpu, ranges);
        }
        for position in 0..batch.positions() {
            let mut comparisons = all.iter_mut();
            let mut observe = |layer: Layer, seen: Snapshot<'_>| {
                if !is_head(&layer) {
                    let comparison = comparisons.next().expect("one for each layer");
                    comparison.observe(&cpu, position, batch.positions(), &seen);
                }
            };
            let inputs = inputs(batch, position);
            network.score_observed(&inputs, &[], &mut [], &mut scratch, &mut observe)?;
        }
    }
    Ok(reports(&all))
}

const fn is_head(layer: &Layer) -> bool {
    matches!(layer, Layer::Policy(_) | Layer::Value)
}

/// Which stream a layer adds to: the squares' or the trunk's.
const fn stream(layer: Layer) -> Option<bool> {
    match layer {
        Layer::Embedding => Some(true),
        Layer::Attention(place) | Layer::FeedForward(place, _) | Layer::Ssm(place) => {
            Some(place.on_squares())
        }
        Layer::Pool => Some(false),
        Layer::EncoderNorm | Layer::TrunkNorm | Layer::Policy(_) | Layer::Value => None,
    }
}

fn reports(all: &[Comparison]) -> Vec<LayerReport> {
    let noise_at_end = |of: bool| {
        let last = all.iter().rfind(|comparison| stream(comparison.layer) == Some(of));
        last.map_or(0.0, Comparison::noise).max(f64::MIN_POSITIVE)
    };
    let ends = [false, true].map(noise_at_end);
    let mut before = [0.0; 2];
    let report = |comparison: &Comparison| {
        let added = stream(comparison.layer).map(|of| {
            let of = usize::from(of);
            let earlier = std::mem::replace(&mut before[of], comparison.noise());
            (before[of] - earlier) / ends[of]
        });
        LayerReport {
            layer: comparison.layer.to_string(),
            signal_to_noise: comparison.signal_to_noise(),
            added,
            clipped: comparison.clipped.share(),
            saturated: comparison.saturated.share(),
        }
    };
    all.iter().map(report).collect()
}

/// The sums of one channel: floats x, integers q.
#[derive(Debug, Clone, Copy, Default)]
struct Channel {
    xx: f64,
    xq: f64,
    qq: f64,
}

/// Some of all.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    some: u64,
    all: u64,
}

impl Share {
    fn count(&mut self, is_one: bool) {
        self.some += u64::from(is_one);
        self.all += 1;
    }

    fn share(self) -> f64 {
        self.some as f64 / self.all.max(1) as f64
    }
}

/// A layer's channels.
struct Comparison {
    layer: Layer,
    channels: Vec<Channel>,
    clipped: Share,
    saturated: Share,
}

impl Comparison {
    fn new(layer: Layer, width: usize) -> Comparison {
        let channels = vec![Channel::default(); width];
        Comparison { layer, channels, clipped: Share::default(), saturated: Share::default() }
    }

    /// Counts the inputs of the layer's matrices in the last batch of `cpu`.
    fn count_clipped(&mut self, cpu: &Cpu, ranges: &[InputRanges]) {
        for InputRanges { layer, signal, ranges } in ranges {
            if *layer == self.layer
                && let Some(activation) = cpu.activation(*layer, *signal)
            {
                for (x, range) in activation.rows().flat_map(|row| row.iter().zip(ranges)) {
                    self.clipped.count(f64::from(x.abs()) > *range);
                }
            }
        }
    }

    /// Adds one of the positions that `cpu` evaluated last.
    fn observe(&mut self, cpu: &Cpu, position: usize, positions: usize, seen: &Snapshot<'_>) {
        let rows = cpu.activation(self.layer, Signal::Output).expect("every layer has an output");
        let rows = rows.rows();
        let (each, stream) = match rows.len() / positions {
            1 => (1, seen.trunk),
            each => (each, seen.squares),
        };
        let ours = rows.skip(position * each).take(each);
        for (float, integers) in ours.zip(stream.chunks_exact(self.channels.len())) {
            self.add(float, integers);
        }
    }

    fn add(&mut self, float: &[f32], integers: &[i16]) {
        for ((channel, &x), &q) in self.channels.iter_mut().zip(float).zip(integers) {
            self.saturated.count(q == i16::MAX || q <= -i16::MAX);
            let (x, q) = (f64::from(x), f64::from(q));
            channel.xx += x * x;
            channel.xq += x * q;
            channel.qq += q * q;
        }
    }

    /// Power of the error: with unit u = xq / qq the error x - u q has the power xx - xq² / qq.
    fn noise(&self) -> f64 {
        let noise = |c: &Channel| if c.qq > 0.0 { c.xx - c.xq * c.xq / c.qq } else { c.xx };
        self.channels.iter().map(|channel| noise(channel).max(0.0)).sum()
    }

    fn signal_to_noise(&self) -> f64 {
        let signal = self.channels.iter().map(|channel| channel.xx).sum();
        decibels(signal, self.noise())
    }
}

/// The ratio of two powers.
pub fn decibels(signal: f64, noise: f64) -> f64 {
    10.0 * (signal / noise.max(f64::MIN_POSITIVE)).log10()
}

#[cfg(test)]
mod tests {
    use kibitzer_core::net::Place;

    use super::*;

    fn comparison(layer: Layer) -> Comparison {
        Comparison::new(layer, 2)
    }

    #[test]
    fn noise_is_what_no_unit_explains() {
        let mut comparison = comparison(Layer::Pool);
        // The first channel's unit is 1/10, without an error; the second's error is 1 in 10.
        for (x, q) in [([1.0, 10.0], [10, 11]), ([-2.0, -10.0], [-20, -9]), ([3.0, 0.0], [30, 0])] {
            comparison.add(&x, &q);
        }
        let (signal, explained) = (14.0 + 200.0, 14.0 + 200.0 * 200.0 / 202.0);
        let expected = 10.0 * f64::log10(signal / (signal - explained));
        assert!((comparison.signal_to_noise() - expected).abs() < 1e-9);
        assert_eq!(comparison.saturated.share(), 0.0);
        comparison.add(&[0.0, 0.0], &[i16::MAX, -i16::MAX]);
        assert_eq!(comparison.saturated.share(), 0.25);
    }

    #[test]
    fn errors_are_shared_out_over_their_stream() {
        // Errors of power 1, then 4, on the squares; then 3 on the trunk.
        let place = Place::EncoderBlock(0);
        let layers =
            [(Layer::Embedding, 1.0), (Layer::Attention(place), 2.0), (Layer::Pool, 3f32.sqrt())];
        let all = layers.map(|(layer, error)| {
            let mut comparison = comparison(layer);
            comparison.add(&[error, 10.0], &[0, 10]);
            comparison
        });
        let added: Vec<f64> = reports(&all).iter().map(|report| report.added.unwrap()).collect();
        assert!(
            added.iter().zip([0.25, 0.75, 1.0]).all(|(a, b)| (a - b).abs() < 1e-6),
            "{added:?}"
        );
    }
}
