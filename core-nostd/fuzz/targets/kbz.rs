//! Any bytes as a model file, and inference on what the reader accepts.
#![no_main]
#[path = "../../tests/common/mod.rs"]
#[allow(dead_code)] // each program uses its own part of it
mod common;
#[path = "../../tests/properties/mod.rs"]
mod properties;
#[path = "../../tests/random/mod.rs"]
mod random;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::of_a_model_file(bytes));
