//! Any bytes as what an app sends to a board, in each protocol.
#![no_main]
#[path = "../../tests/common/mod.rs"]
#[allow(dead_code)] // each program uses its own part of it
mod common;
#[path = "../../tests/configs/mod.rs"]
#[allow(dead_code)]
mod configs;
#[path = "../../tests/properties/mod.rs"]
mod properties;
#[path = "../../tests/random/mod.rs"]
mod random;

libfuzzer_sys::fuzz_target!(|case: &[u8]| properties::protocol::of_a_protocol(case));
