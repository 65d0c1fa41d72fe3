//! Writes a preset's model file with seeded pseudo-random integers, to measure its cost before it
//! has learned anything: `untrained PRESET > NET.kbz`.
#[path = "../tests/common/mod.rs"]
#[allow(dead_code)] // the tests' own parts
mod common;
#[path = "../tests/random/mod.rs"]
mod random;

use std::io::{self, Write as _};

use kibitzer_core::net::{PRESETS, preset};

fn main() -> io::Result<()> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some(preset) = preset(&name) else {
        let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
        eprintln!("untrained PRESET > NET.kbz, with a preset of {}", names.join(", "));
        std::process::exit(2);
    };
    io::stdout().write_all(&common::file(&preset.config(), false, 1))
}
