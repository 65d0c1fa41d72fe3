//! Any text as a FEN.
#![no_main]
#[path = "../../tests/common/mod.rs"]
#[allow(dead_code)] // each program uses its own part of it
mod common;
#[path = "../../tests/properties/mod.rs"]
mod properties;
#[path = "../../tests/random/mod.rs"]
mod random;

libfuzzer_sys::fuzz_target!(|text: &str| properties::of_a_fen(text));
