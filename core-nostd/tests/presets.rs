//! Whether each preset fits the board that it is made for.
mod common;
mod random;

use common::file;
use kibitzer_core::{
    net::{FULL, M4, M7, Model, ModelError, PICO, PRESETS, Preset, scratch_bytes},
    position::parse_fen,
    shakmaty::Chess,
};

/// Bytes of the deepest stack of an inference beyond the scratch, the answer and the FEN's reading
/// included: what `cargo xtask everywhere` allows, and measures on each board.
const STACK: usize = 14 * 1024;

/// What a firmware writes: buffers whose sizes are constants.
static BUFFERS: [(&Preset, usize); 3] = [
    (&PICO, [0u8; PICO.scratch_bytes()].len()),
    (&M4, [0u8; M4.scratch_bytes()].len()),
    (&M7, [0u8; M7.scratch_bytes()].len()),
];

#[test]
fn the_constant_is_what_inference_needs() {
    for preset in PRESETS {
        assert_eq!(preset.scratch_bytes(), scratch_bytes(&preset.config()), "{}", preset.name);
    }
}

#[test]
fn model_and_memory_are_within_the_boards_limits() {
    for (preset, scratch) in &BUFFERS {
        let board = preset.board.expect("made for a board");
        let model = file(&preset.config(), false, 1).len();
        assert!(model <= board.model_bytes, "{}: {model} bytes", preset.name);
        // Nothing is gained by leaving the flash empty.
        assert!(model > board.model_bytes * 7 / 8, "{}: only {model} bytes", preset.name);
        assert!(scratch + STACK <= board.ram_bytes, "{}: {scratch} bytes", preset.name);
    }
    assert!(FULL.scratch_bytes() < 148 * 1024);
}

#[test]
fn a_buffer_of_the_constants_size_is_enough_and_one_byte_less_is_told() {
    for (preset, needed) in &BUFFERS {
        let bytes = file(&preset.config(), false, 1);
        let model = Model::parse(&bytes).expect("whole");
        let position: Chess = parse_fen("8/8/8/8/8/8/4P3/K1k5 w - - 0 1").expect("legal");
        let mut scratch = vec![0; *needed];
        assert!(model.evaluate(&position, &mut scratch).is_ok(), "{}", preset.name);
        let error = model.evaluate(&position, &mut scratch[1..]).expect_err("too small");
        assert_eq!(error, ModelError::Scratch { needed: *needed, actual: needed - 1 });
        assert!(error.to_string().contains(&format!("{needed} are needed")), "{error}");
    }
}
