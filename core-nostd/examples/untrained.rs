//! Writes a preset's model file with seeded pseudo-random integers, to measure its cost before it
//! has learned anything: `untrained PRESET [4] > NET.kbz`, with weights of 8 bits or of 4.
#[path = "../tests/common/mod.rs"]
#[allow(dead_code)] // the tests' own parts
mod common;
#[path = "../tests/random/mod.rs"]
mod random;

use std::io::{self, Write as _};

use kibitzer_core::net::{PRESETS, Precision, WeightBits, hash, preset};

fn main() -> io::Result<()> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some(preset) = preset(&name) else {
        let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
        eprintln!("untrained PRESET [4] > NET.kbz, with a preset of {}", names.join(", "));
        std::process::exit(2);
    };
    let weights = match std::env::args().nth(2).as_deref() {
        Some("4") => WeightBits::Four,
        _ => WeightBits::Eight,
    };
    let (config, precision) = (preset.config(), Precision { weights, ..Precision::default() });
    let file = common::file_with(&config, hash(&config), precision, false, 1);
    io::stdout().write_all(&file)
}
