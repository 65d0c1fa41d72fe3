//! Named configurations.
use heapless::String;

use super::{
    config::{Config, PolicyHead, Trunk},
    infer::scratch_bytes,
};
use crate::inputs::Perspective;

/// A configuration with a name.
#[derive(Debug)]
pub struct Preset {
    /// The name on the command line.
    pub name: &'static str,
    /// What it is for, in one line.
    pub meaning: &'static str,
    /// What the board it is made for has, if it is made for one.
    pub board: Option<Board>,
    trunk: &'static str,
    /// The configuration without its trunk, which constants cannot hold.
    shape: Config,
}

/// What a board can spare for a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Board {
    /// Its chip and that chip's core.
    pub chip: &'static str,
    /// Bytes of flash for the model file.
    pub model_bytes: usize,
    /// Bytes of RAM for scratch and stack together.
    pub ram_bytes: usize,
}

const KIB: usize = 1024;

/// The full network, with the seed's choices.
pub static FULL: Preset = Preset {
    name: "full",
    meaning: "32,129,153 parameters, for a GPU",
    board: None,
    trunk: "ASSASSASSA",
    shape: Config {
        width: 320,
        heads: 8,
        encoder_blocks: 3,
        trunk: Trunk::new(),
        ffn_mult: 4,
        ssm_expand: 2,
        ssm_state: 32,
        ssm_rank: 32,
        ssm_conv: 4,
        ssm_ffn_mult: 8,
        perspective: Perspective::Absolute,
        policy_head: PolicyHead::Pooled,
        policy_dim: 32,
        attention_bias: false,
    },
};

/// Small networks look from the mover's side and score pairs of squares. Their depth is in the
/// encoder, where the squares see each other; a block of attention in the trunk, which passes a
/// single position, costs a fifth of a state space block's flash.
const fn small(width: u32, heads: u32, encoder_blocks: u32) -> Config {
    Config {
        width,
        heads,
        encoder_blocks,
        trunk: Trunk::new(),
        ffn_mult: 2,
        ssm_expand: 2,
        ssm_state: 8,
        ssm_rank: 8,
        ssm_conv: 4,
        ssm_ffn_mult: 2,
        perspective: Perspective::Mover,
        policy_head: PolicyHead::FromTo,
        policy_dim: 32,
        attention_bias: true,
    }
}

/// For boards with an STM32H7.
pub static M7: Preset = Preset {
    name: "m7",
    meaning: "for a Cortex-M7: int8 model within 1.5 MiB",
    board: Some(Board {
        chip: "STM32H7, Cortex-M7",
        model_bytes: 1536 * KIB,
        ram_bytes: 384 * KIB,
    }),
    trunk: "S",
    shape: small(128, 8, 6),
};

/// For boards with an STM32F405.
pub static M4: Preset = Preset {
    name: "m4",
    meaning: "for a Cortex-M4: int8 model within 512 KiB",
    board: Some(Board {
        chip: "STM32F405, Cortex-M4",
        model_bytes: 512 * KIB,
        ram_bytes: 96 * KIB,
    }),
    trunk: "A",
    shape: small(80, 4, 5),
};

/// For boards with an RP2040.
pub static PICO: Preset = Preset {
    name: "pico",
    meaning: "for a Cortex-M0+: int8 model within 256 KiB",
    board: Some(Board { chip: "RP2040, Cortex-M0+", model_bytes: 256 * KIB, ram_bytes: 48 * KIB }),
    trunk: "A",
    shape: small(64, 4, 3),
};

/// For demonstrations and tests.
pub static DEMO: Preset = Preset {
    name: "demo",
    meaning: "learns in minutes on two cores; int8 weights within 512 KiB",
    board: None,
    trunk: "S",
    shape: small(64, 4, 2),
};

/// All presets, the dearest first.
pub const PRESETS: [&Preset; 5] = [&FULL, &M7, &M4, &PICO, &DEMO];

/// The preset with this name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.into_iter().find(|preset| preset.name == name)
}

impl Preset {
    /// Its configuration.
    pub fn config(&self) -> Config {
        let trunk = String::try_from(self.trunk).expect("shorter than MAX_TRUNK");
        Config { trunk, ..self.shape.clone() }
    }

    /// Bytes of scratch that its inference needs, a constant:
    ///
    /// ```
    /// use kibitzer_core::net::M4;
    ///
    /// static SCRATCH: [u8; M4.scratch_bytes()] = [0; M4.scratch_bytes()];
    /// assert!(SCRATCH.len() < 96 * 1024);
    /// ```
    pub const fn scratch_bytes(&self) -> usize {
        scratch_bytes(&self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::parameter_count;

    #[test]
    fn every_preset_is_valid_and_found_by_its_name() {
        for listed in PRESETS {
            assert_eq!(listed.config().validate(), Ok(()), "{}", listed.name);
            assert_eq!(preset(listed.name).map(|p| p.meaning), Some(listed.meaning));
        }
        assert!(preset("none").is_none());
    }

    #[test]
    fn the_demo_fits_a_board() {
        assert!(parameter_count(&DEMO.config()) <= 512 * 1024);
    }
}
