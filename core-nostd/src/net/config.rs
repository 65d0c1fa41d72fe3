//! The configuration from which every layer and parameter follows.
use core::fmt;

use heapless::String;
use serde::{Deserialize, Serialize};

use super::{layers::layers, presets::FULL};
use crate::inputs::Perspective;

/// How moves are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(rename_all = "snake_case")]
pub enum PolicyHead {
    /// One linear layer from the trunk to the 4,672 move indices.
    #[default]
    Pooled,
    /// Each pair of squares scored from the encoder's squares, the trunk's output added to all.
    FromTo,
}

/// A block of the trunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrunkBlock {
    /// Causal attention over the positions of a sequence (`A`).
    Attention,
    /// Selective state space (`S`).
    Ssm,
}

/// Longest trunk, in blocks.
pub const MAX_TRUNK: usize = 32;

/// A trunk's pattern, one letter a block.
pub type Trunk = String<MAX_TRUNK>;

/// The network's configuration; field names and defaults are those of the reference network
/// in PyTorch, so that its JSON reads and writes unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(default)]
pub struct Config {
    /// Width D of every residual stream.
    pub width: u32,
    /// Attention heads; divides the width.
    pub heads: u32,
    /// Blocks of square attention in the encoder.
    pub encoder_blocks: u32,
    /// One letter a trunk block: `A` attention, `S` state space.
    #[cfg_attr(feature = "defmt", defmt(Display2Format))]
    pub trunk: Trunk,
    /// Hidden width of the attention blocks' feed-forward layers, in widths.
    pub ffn_mult: u32,
    /// Inner width of a state space block, in widths.
    pub ssm_expand: u32,
    /// States a channel of the state space.
    pub ssm_state: u32,
    /// Rank of the step-size projection.
    pub ssm_rank: u32,
    /// Taps of the depthwise convolution.
    pub ssm_conv: u32,
    /// Hidden width of the state space blocks' feed-forward layers, in widths.
    pub ssm_ffn_mult: u32,
    /// From whose side the board is seen.
    pub perspective: Perspective,
    /// How moves are scored.
    pub policy_head: PolicyHead,
    /// Width of the `from_to` head's vectors.
    pub policy_dim: u32,
    /// Whether each encoder head has a learned 64×64 bias on its attention scores.
    pub attention_bias: bool,
}

impl Default for Config {
    /// The full network: 32,129,153 parameters.
    fn default() -> Config {
        FULL.config()
    }
}

/// Why a configuration cannot be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ConfigError {
    /// A field is outside its range (name, least, most).
    OutOfRange(&'static str, u32, u32),
    /// The heads do not divide the width.
    HeadsDoNotDivide,
    /// The network has more parameters than an offset can tell.
    TooLarge,
    /// The trunk has a letter that is neither `A` nor `S`.
    UnknownTrunkBlock(char),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::OutOfRange(field, least, most) => {
                write!(f, "configuration field {field} must lie between {least} and {most}")
            }
            ConfigError::HeadsDoNotDivide => {
                f.write_str("configuration field heads must divide width")
            }
            ConfigError::TooLarge => f.write_str(
                "the configuration has more parameters than 32 bits can count; make it smaller",
            ),
            ConfigError::UnknownTrunkBlock(letter) => {
                write!(f, "configuration field trunk holds '{letter}'; use A and S only")
            }
        }
    }
}

impl core::error::Error for ConfigError {}

/// Fields, and between which numbers they must lie.
static RANGES: [(&str, u16, u16); 10] = [
    ("width", 2, 4096),
    ("heads", 1, 64),
    ("encoder_blocks", 0, 32),
    ("ffn_mult", 1, 16),
    ("ssm_expand", 1, 8),
    ("ssm_state", 1, 256),
    ("ssm_rank", 1, 256),
    ("ssm_conv", 1, 16),
    ("ssm_ffn_mult", 1, 16),
    ("policy_dim", 1, 1024),
];

impl Config {
    /// The fields of [`RANGES`].
    const fn ranged(&self) -> [u32; RANGES.len()] {
        [
            self.width,
            self.heads,
            self.encoder_blocks,
            self.ffn_mult,
            self.ssm_expand,
            self.ssm_state,
            self.ssm_rank,
            self.ssm_conv,
            self.ssm_ffn_mult,
            self.policy_dim,
        ]
    }

    /// Checks every field; a configuration that passes has tables that fit `u32`.
    pub fn validate(&self) -> Result<(), ConfigError> {
        for (&(field, least, most), value) in RANGES.iter().zip(self.ranged()) {
            let (least, most) = (u32::from(least), u32::from(most));
            if !(least..=most).contains(&value) {
                return Err(ConfigError::OutOfRange(field, least, most));
            }
        }
        if !self.width.is_multiple_of(self.heads) {
            return Err(ConfigError::HeadsDoNotDivide);
        }
        if let Some(letter) = self.trunk.chars().find(|c| !matches!(c, 'A' | 'S')) {
            return Err(ConfigError::UnknownTrunkBlock(letter));
        }
        // Each tensor alone fits, by the ranges above; the offsets are sums of all of them.
        let mut total = 0;
        for layer in layers(self) {
            total += layer.parameters(self).map(|(_, shape)| shape.len() as u64).sum::<u64>();
        }
        if total > u64::from(u32::MAX) {
            return Err(ConfigError::TooLarge);
        }
        Ok(())
    }

    /// Inner width of a state space block.
    pub const fn ssm_inner(&self) -> u32 {
        self.ssm_expand * self.width
    }

    /// The trunk's blocks in order.
    pub fn trunk_blocks(&self) -> impl Iterator<Item = TrunkBlock> + '_ {
        self.trunk.as_bytes().iter().map(|letter| match letter {
            b'A' => TrunkBlock::Attention,
            _ => TrunkBlock::Ssm,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_fit_32_bits_or_the_configuration_is_refused() {
        assert_eq!(Config::default().validate(), Ok(()));
        let trunk = Config::default().trunk;
        let huge = Config {
            width: 4096,
            heads: 1,
            encoder_blocks: 5,
            ffn_mult: 16,
            trunk,
            ..Config::default()
        };
        assert_eq!(huge.validate(), Err(ConfigError::TooLarge));
    }
}
