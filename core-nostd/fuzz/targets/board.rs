//! Any bytes as what is sent to a chessboard with a network.
#![no_main]
#[path = "../../tests/common/mod.rs"]
#[allow(dead_code)] // each program uses its own part of it
mod common;
#[path = "../../tests/configs/mod.rs"]
mod configs;
#[path = "../../tests/properties/mod.rs"]
mod properties;
#[path = "../../tests/random/mod.rs"]
mod random;

use std::sync::LazyLock;

use kibitzer_core::net::Model;

static NET: LazyLock<Vec<u8>> = LazyLock::new(|| common::file(&configs::configs()[0], false, 1));

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let model = Model::parse(&NET).expect("whole");
    properties::of_a_conversation(bytes, &model);
});
