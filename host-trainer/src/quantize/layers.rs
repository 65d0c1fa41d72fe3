//! Where the integers' errors come from: the streams compared layer by layer.
use std::fmt;

use anyhow::Result;
use kibitzer_core::{
    moves::MoveIndex,
    net::{Layer, layers, scratch_bytes},
};
use kibitzer_gpu::{Backend as _, Batch, OptimizerState, cpu::Cpu, program::Signal};
use serde::Serialize;

use super::{Integer, calibration::CHUNK, integer::inputs};
use crate::model::Model;

/// How well a layer's output follows the float network's, all errors before it included.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayerReport {
    /// The layer, as in `encoder 2 attention`.
    pub layer: String,
    /// Power of the float output over that of the integers' error, in decibels; each channel in
    /// the unit that fits best.
    pub signal_to_noise: f64,
    /// Share of the outputs that stand at the end of their integers' range.
    pub saturated: f64,
}

impl fmt::Display for LayerReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { layer, signal_to_noise, saturated } = self;
        write!(f, "{layer:24} {signal_to_noise:6.1} dB, {:.4} % saturated", 100.0 * saturated)
    }
}

/// Compares the streams after every layer up to the heads on `batches`, none larger than
/// [`CHUNK`] positions, with at least one position.
///
/// # Errors
/// If a batch is malformed.
pub fn compare(
    model: &Model,
    integer: &Integer,
    batches: &[Batch],
    mut progress: impl FnMut(usize),
) -> Result<Vec<LayerReport>> {
    let mut cpu = Cpu::by_operation(&model.config, 0, CHUNK)?;
    cpu.restore(&model.parameters, &OptimizerState::new(model.parameters.len()))?;
    let heads = |layer: &Layer| matches!(layer, Layer::Policy(_) | Layer::Value);
    let compared: Vec<Layer> = layers(&model.config).filter(|layer| !heads(layer)).collect();
    let width = model.config.width as usize;
    let mut all: Vec<Comparison> =
        compared.iter().map(|_| Comparison(vec![Channel::default(); width])).collect();
    let network = integer.network()?;
    let mut scratch = vec![0; scratch_bytes(&model.config)];
    for batch in batches {
        cpu.evaluate(batch)?;
        for position in 0..batch.positions() {
            let mut at = 0;
            let moves: [MoveIndex; 0] = [];
            network.score_observed(
                &inputs(batch, position),
                &moves,
                &mut [],
                &mut scratch,
                &mut |layer, seen| {
                    if heads(&layer) {
                        return;
                    }
                    let activation = cpu.activation(layer, Signal::Output);
                    let rows = activation.expect("every layer has an output");
                    let rows = rows.rows();
                    let (each, stream) = match rows.len() / batch.positions() {
                        1 => (1, seen.trunk),
                        each => (each, seen.squares),
                    };
                    let ours = rows.skip(position * each).take(each);
                    for (float, integers) in ours.zip(stream.chunks_exact(width)) {
                        all[at].add(float, integers);
                    }
                    at += 1;
                },
            )?;
        }
        progress(batch.positions());
    }
    let report = |(layer, comparison): (&Layer, &Comparison)| LayerReport {
        layer: layer.to_string(),
        signal_to_noise: comparison.signal_to_noise(),
        saturated: comparison.saturated(),
    };
    Ok(compared.iter().zip(&all).map(report).collect())
}

/// The sums of one channel: floats x, integers q.
#[derive(Debug, Clone, Copy, Default)]
struct Channel {
    xx: f64,
    xq: f64,
    qq: f64,
    count: u64,
    saturated: u64,
}

/// A layer's channels.
struct Comparison(Vec<Channel>);

impl Comparison {
    fn add(&mut self, float: &[f32], integers: &[i16]) {
        for ((channel, &x), &q) in self.0.iter_mut().zip(float).zip(integers) {
            let ends = q == i16::MAX || q <= -i16::MAX;
            let (x, q) = (f64::from(x), f64::from(q));
            channel.xx += x * x;
            channel.xq += x * q;
            channel.qq += q * q;
            channel.count += 1;
            channel.saturated += u64::from(ends);
        }
    }

    /// With unit u = xq / qq the error x - u q has the power xx - xq² / qq.
    fn signal_to_noise(&self) -> f64 {
        let noise = |c: &Channel| if c.qq > 0.0 { c.xx - c.xq * c.xq / c.qq } else { c.xx };
        let (signal, noise) = self
            .0
            .iter()
            .fold((0.0, 0.0), |sum, channel| (sum.0 + channel.xx, sum.1 + noise(channel).max(0.0)));
        10.0 * (signal / noise.max(f64::MIN_POSITIVE)).log10()
    }

    fn saturated(&self) -> f64 {
        let sum = |pick: fn(&Channel) -> u64| self.0.iter().map(pick).sum::<u64>() as f64;
        sum(|c| c.saturated) / sum(|c| c.count).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_what_no_unit_explains() {
        let mut comparison = Comparison(vec![Channel::default(); 2]);
        // The first channel's unit is 1/10, without an error; the second's error is 1 in 10.
        for (x, q) in [([1.0, 10.0], [10, 11]), ([-2.0, -10.0], [-20, -9]), ([3.0, 0.0], [30, 0])] {
            comparison.add(&x, &q);
        }
        let (signal, explained) = (14.0 + 200.0, 14.0 + 200.0 * 200.0 / 202.0);
        let expected = 10.0 * f64::log10(signal / (signal - explained));
        assert!((comparison.signal_to_noise() - expected).abs() < 1e-9);
        assert_eq!(comparison.saturated(), 0.0);
        comparison.add(&[0.0, 0.0], &[i16::MAX, -i16::MAX]);
        assert_eq!(comparison.saturated(), 0.25);
    }
}
