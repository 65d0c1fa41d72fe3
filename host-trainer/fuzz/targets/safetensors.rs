//! Any bytes as a `model.safetensors`.
#![no_main]
#[path = "../../tests/properties/mod.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::of_safetensors(bytes));
