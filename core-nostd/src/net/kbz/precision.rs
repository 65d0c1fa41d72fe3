//! With how many bits a network's matrices work.
use serde::{Deserialize, Serialize};

use crate::net::infer::Width;

/// How the weights of a network's large matrices are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum WeightBits {
    /// A byte a weight.
    #[default]
    Eight,
    /// A nibble a weight, and a scale for each 16 columns of a row.
    Four,
}

/// How wide the activations are that the squares' matrices read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum InputBits {
    /// 8 bits: faster with x86-64's vectors.
    Eight,
    /// 11 bits: a sixth of the difference from the float network's policy, and on a Cortex-M at the
    /// same price.
    #[default]
    Eleven,
    /// 8 bits after a norm, before the queries, keys and values and before the gate and the up
    /// projection; 11 before the output and the down projection, whose inputs have long tails.
    Mixed,
}

impl InputBits {
    /// The width of several squares after a norm.
    pub const fn normed(self) -> Width {
        match self {
            InputBits::Eight | InputBits::Mixed => Width::Narrow,
            InputBits::Eleven => Width::Wide,
        }
    }

    /// The width of the contexts of several squares, and of their hidden units.
    pub const fn unnormed(self) -> Width {
        match self {
            InputBits::Eight => Width::Narrow,
            InputBits::Eleven | InputBits::Mixed => Width::Wide,
        }
    }
}

/// With how many bits a network's matrices work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Precision {
    /// Of the large matrices' weights.
    pub weights: WeightBits,
    /// Of what the squares' matrices read.
    pub inputs: InputBits,
}
