//! Any text as a `viveka.json`.
#![no_main]
#[path = "../../tests/properties/mod.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|text: &str| properties::of_viveka_json(text));
