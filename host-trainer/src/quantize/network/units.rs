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

/// The inputs of a matrix that reads `columns` of a signal.
pub fn inputs(observed: &Observed, columns: Range<usize>, width: Width) -> Inputs {
    let peaks = &observed.peaks[columns.clone()];
    let units = units_above(least_unit(width), peaks, steps(width, peaks.len()));
    Inputs { metric: Metric::new(observed.samples(columns), &units), units }
}

/// Least unit of a channel, as a share of the largest.
const fn least_unit(width: Width) -> f64 {
    match width {
        Width::Narrow | Width::Wide => LEAST_UNIT,
        Width::Single => LEAST_WIDE_UNIT,
    }
}

/// Steps that reach what calibration saw; 16 bits are never coarser than 8.
fn steps(width: Width, columns: usize) -> f64 {
    let limit = f64::from(width.limit(columns));
    match width {
        Width::Narrow | Width::Wide => limit,
        Width::Single => (limit / INPUT_HEADROOM).max(limit.min(127.0)),
    }
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
