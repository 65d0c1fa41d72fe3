//! With how many bits a network's matrices work.
use serde::{Deserialize, Serialize};

use crate::net::infer::Width;

/// How the weights of a network's large matrices are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum WeightBits {
    /// A byte a weight.
    #[default]
    Eight,
    /// A nibble a weight, and a scale for each 16 columns of a row.
    Four,
}

/// How wide the activations are that the squares' matrices read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum InputBits {
    /// 8 bits: faster on chips without products of 16 bits, and with x86-64's vectors.
    Eight,
    /// 11 bits: a sixth of the difference from the float network's policy, and on a Cortex-M with
    /// the DSP extension at the same price.
    #[default]
    Eleven,
}

impl InputBits {
    /// The width of tiles of several tokens.
    pub const fn width(self) -> Width {
        match self {
            InputBits::Eight => Width::Narrow,
            InputBits::Eleven => Width::Wide,
        }
    }
}

/// With how many bits a network's matrices work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Precision {
    /// Of the large matrices' weights.
    pub weights: WeightBits,
    /// Of what the squares' matrices read.
    pub inputs: InputBits,
}
