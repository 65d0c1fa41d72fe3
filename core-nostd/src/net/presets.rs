//! Named configurations.
use heapless::String;

use super::config::{Config, PolicyHead};
use crate::inputs::Perspective;

/// A configuration with a name.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// The name on the command line.
    pub name: &'static str,
    /// What it is for, in one line.
    pub meaning: &'static str,
    /// Its configuration.
    pub config: fn() -> Config,
}

/// All presets, largest first.
pub const PRESETS: [Preset; 2] = [
    Preset { name: "full", meaning: "32,129,153 parameters, for a GPU", config: Config::default },
    Preset {
        name: "demo",
        meaning: "learns in minutes on two cores; int8 weights within 512 KiB",
        config: demo,
    },
];

/// The preset with this name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

fn demo() -> Config {
    Config {
        width: 64,
        heads: 4,
        encoder_blocks: 2,
        trunk: String::try_from("S").expect("shorter than MAX_TRUNK"),
        ffn_mult: 2,
        ssm_state: 8,
        ssm_rank: 8,
        ssm_ffn_mult: 2,
        perspective: Perspective::Mover,
        policy_head: PolicyHead::FromTo,
        policy_dim: 32,
        attention_bias: true,
        ..Config::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::parameter_count;

    #[test]
    fn every_preset_is_valid_and_found_by_its_name() {
        for listed in PRESETS {
            assert_eq!((listed.config)().validate(), Ok(()), "{}", listed.name);
            assert_eq!(preset(listed.name).map(|p| p.meaning), Some(listed.meaning));
        }
        assert!(preset("none").is_none());
    }

    #[test]
    fn the_demo_fits_a_board() {
        assert!(parameter_count(&demo()) <= 512 * 1024);
    }
}
