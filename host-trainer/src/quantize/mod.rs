//! Quantization: from a float network to a model file of integers.
//!
//! | file | holds |
//! | --- | --- |
//! | `calibration.rs`, `statistics.rs`, `histogram.rs` | what the activations look like over some positions |
//! | `selection.rs` | which positions calibrate, and which test |
//! | `network/` | the integers of every section, layer by layer |
//! | `matrix.rs`, `rounding.rs`, `nibbles.rs` | matrices of 8 bits, and of 4 |
//! | `number.rs`, `curves.rs` | fixed-point factors, tables |
//! | `file.rs` | the bytes of a model file |
//! | `integer.rs` | a model file that answers batches |
//! | `parity.rs` | the quantized network compared with the float network, position by position |
//! | `layers.rs` | and layer by layer |
pub mod calibration;
mod curves;
mod file;
mod histogram;
mod integer;
pub mod layers;
mod matrix;
mod network;
mod nibbles;
mod number;
pub mod parity;
mod rounding;
pub mod selection;
mod statistics;

use kibitzer_core::net::{Config, Precision, kbz::Curve, parameter_count};

use file::Values;

pub use integer::Integer;
pub use layers::LayerReport;
pub use network::InputRanges;
pub use parity::Parity;
pub use statistics::{Observed, Statistics};

/// A network as integers.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantized {
    /// The model file.
    pub file: Vec<u8>,
    /// How far the inputs of its matrices reach.
    pub ranges: Vec<InputRanges>,
}

/// A network, whose activations were observed at every signal of its program,
/// whose matrices are to work with `precision`.
///
/// # Panics
/// If the number of parameters is not the configuration's, or a signal was not observed.
pub fn quantize(
    config: &Config,
    parameters: &[f32],
    statistics: &Statistics,
    precision: Precision,
) -> Quantized {
    assert_eq!(parameters.len(), parameter_count(config));
    let curves = Curve::ALL.map(|curve| Values::I16(curves::table(curve)));
    let (layers, ranges) = network::Network::quantize(config, parameters, statistics, precision);
    Quantized { file: file::write(config, precision, &[&curves[..], &layers].concat()), ranges }
}
