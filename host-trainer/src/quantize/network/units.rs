//! What a step of each integer counts.
use std::ops::Range;

use kibitzer_core::net::infer::{
    ACTIVATION_FRACTION, EXPONENT_FRACTION, LOGIT_FRACTION, Shift, UP_LIMIT, Width,
};

use crate::quantize::{Observed, matrix::Inputs, rounding::Metric};

/// How much larger than anything calibration saw a 16-bit quantity may get. Activations have
/// long tails: a hidden unit that fires in one position of a thousand can be ten times as strong
/// as in all others.
pub const HEADROOM: f64 = 4.0;
/// The same for 16-bit inputs of matrices, which have bits to spare beside 8-bit weights.
const INPUT_HEADROOM: f64 = 16.0;
/// Least unit of a channel, as a share of the largest in its layer: a channel that calibration
/// saw silent does not saturate at the first sound.
const LEAST_UNIT: f64 = 1e-3;
/// The same for 16-bit inputs.
const LEAST_WIDE_UNIT: f64 = 1.0 / 16.0;
/// How much of the difference between channels their ranges take.
const SMOOTHING: f64 = 0.6;
/// Steps from zero to the end of an i16.
pub const STREAM_STEPS: f64 = i16::MAX as f64;

/// A step with so many fraction bits.
pub const fn fixed(fraction: u32) -> f64 {
    1.0 / (1u64 << fraction) as f64
}

pub const ACTIVATION_UNIT: f64 = fixed(ACTIVATION_FRACTION);
pub const EXPONENT_UNIT: f64 = fixed(EXPONENT_FRACTION);
pub const LOGIT_UNIT: f64 = fixed(LOGIT_FRACTION);

/// Units in which `steps` steps reach each channel's peak, none less than `share` of the largest.
fn units_above(share: f64, peaks: &[f64], steps: f64) -> Vec<f64> {
    let most = peaks.iter().copied().fold(0.0, f64::max);
    let least = if most > 0.0 { most * share } else { 1.0 };
    peaks.iter().map(|peak| peak.max(least) / steps).collect()
}

/// Units in which `steps` steps reach each channel's peak.
pub fn units(peaks: &[f64], steps: f64) -> Vec<f64> {
    units_above(LEAST_UNIT, peaks, steps)
}

/// The inputs of a matrix with one token that reads `columns` of a signal: 16 bits are finer than
/// 8-bit weights need, so that what calibration saw reaches only a part of them.
pub fn inputs(observed: &Observed, columns: Range<usize>) -> Inputs {
    let peaks = &observed.peaks[columns.clone()];
    let limit = f64::from(Width::Single.limit(peaks.len()));
    let steps = (limit / INPUT_HEADROOM).max(limit.min(127.0));
    let units = units_above(LEAST_WIDE_UNIT, peaks, steps);
    Inputs { metric: Metric::new(observed.samples(columns), &units), units, limit }
}

/// The inputs of the squares' matrices that read a signal, whose weights from column c have the
/// magnitude `weights[c]`. Ranges have the least squared error over all that calibration saw.
pub fn squares_inputs(observed: &Observed, width: Width, weights: &[f64]) -> Inputs {
    let columns = 0..observed.width();
    let limit = f64::from(width.limit(observed.width()));
    let ranges = units_above(LEAST_UNIT, &observed.ranges(limit), 1.0);
    let ranges = match width {
        Width::Wide => smoothed(&ranges, weights),
        Width::Narrow | Width::Single => ranges,
    };
    let units: Vec<f64> = ranges.iter().map(|range| range / limit).collect();
    Inputs { metric: Metric::new(observed.samples(columns), &units), units, limit }
}

/// Ranges that leave some of the inputs' differences to the weights, as `r^a · w^(a - 1)` (after
/// SmoothQuant, <https://arxiv.org/abs/2211.10438>); none falls below its own.
///
/// With ranges as they are, a column of weights counts as much as its input is strong, and a row's
/// largest takes the steps from all others. Inputs of 11 bits have steps to spare for them.
fn smoothed(ranges: &[f64], weights: &[f64]) -> Vec<f64> {
    let weights = units_above(LEAST_UNIT, weights, 1.0);
    let pairs = ranges.iter().zip(&weights);
    let shape = |(r, w): (&f64, &f64)| r.powf(SMOOTHING) * w.powf(SMOOTHING - 1.0);
    let shapes: Vec<f64> = pairs.map(shape).collect();
    let factor = ranges.iter().zip(&shapes).map(|(r, s)| r / s).fold(0.0, f64::max);
    shapes.iter().map(|shape| shape * factor).collect()
}

/// The shift after the gate's product, and the units of the up projection's rows that make one
/// shift lead to the hidden units: as fine as the projection's range allows.
pub fn up_units(up_peaks: &[f64], hidden_units: &[f64]) -> (i32, Vec<f64>) {
    let ratios = up_peaks.iter().zip(hidden_units).map(|(peak, unit)| peak / unit);
    let most = ratios.fold(f64::MIN_POSITIVE, f64::max);
    let room = (f64::from(UP_LIMIT) / INPUT_HEADROOM / most).log2().floor() as i32;
    let shift = (ACTIVATION_FRACTION as i32 + room).clamp(1, i32::from(Shift::MOST));
    let factor = f64::from(shift - ACTIVATION_FRACTION as i32).exp2();
    (shift, hidden_units.iter().map(|unit| unit / factor).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_evens_the_weights_columns_and_cuts_nothing() {
        let (ranges, weights) = ([8.0, 1.0, 2.0, 1.0], [1.0, 1.0, 4.0, 1.0]);
        let found = smoothed(&ranges, &weights);
        assert!(
            found.iter().zip(ranges).all(|(found, range)| *found >= range - 1e-12),
            "{found:?}"
        );
        // A column of weights in steps is its weight times its range.
        let spread = |ranges: &[f64]| {
            let columns = ranges.iter().zip(weights).map(|(r, w)| r * w);
            columns.clone().fold(0.0, f64::max) / columns.fold(f64::INFINITY, f64::min)
        };
        assert!(spread(&found) < 0.6 * spread(&ranges), "{found:?}");
        // A column without weights stays finite.
        assert!(smoothed(&ranges, &[1.0, 0.0, 1.0, 1.0]).iter().all(|x| x.is_finite()));
    }
}
