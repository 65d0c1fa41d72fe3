//! The proof that the core cannot panic, whatever it is given: this program links.
//!
//! Its panic handler calls a function that exists nowhere. Where the compiler finds that no panic can
//! be reached it leaves the handler out, and the linker misses nothing; where one may be, linking
//! fails. It reads a line and networks of which the compiler knows nothing, answers as a
//! chessboard does, and is never run: `cargo xtask proof` links it for a Cortex-M4 and a
//! Cortex-M0+.
//!
//! A function without a body is declared, hence the `unsafe` of this file.
#![no_std]
#![no_main]
#![allow(unsafe_code)]

use core::fmt;
use core::hint::black_box;
use core::panic::PanicInfo;

use cortex_m_rt::entry;
use kibitzer_core::{
    board::{Board, MAX_LINE, digest},
    net::{Model, ModelError, ReadError, Source},
    viveka,
};

unsafe extern "C" {
    /// Missing, so that a program that needs it does not link.
    fn a_panic_may_be_reached() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: a program that calls it does not link.
    unsafe { a_panic_may_be_reached() }
}

/// Takes what is written, for the compiler to keep.
struct Sink;

impl fmt::Write for Sink {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        black_box(text);
        // Writing may fail anywhere.
        if black_box(true) { Ok(()) } else { Err(fmt::Error) }
    }
}

#[entry]
fn main() -> ! {
    // The runtime hands it out once, as `&'static mut`.
    static mut LINE: [u8; MAX_LINE] = [0; MAX_LINE];

    loop {
        let line = black_box(&mut LINE[..]);
        with_network(line);
        answer(Board { weights: &viveka::FITTED, net: None }, line);
    }
}

/// Flash that is read through a driver, and may fail.
struct Chip;

impl Source for Chip {
    fn read(&self, offset: u32, into: &mut [u8]) -> Result<(), ReadError> {
        black_box((offset, into));
        if black_box(true) { Ok(()) } else { Err(ReadError) }
    }
}

/// Reads networks, from memory and from a chip, and answers with them.
fn with_network(line: &[u8]) {
    static FLASH: [u8; 1024] = [0; 1024];
    let mut scratch = [0; 1024];
    let scratch = black_box(&mut scratch[..]);
    tell(Model::parse(black_box(&FLASH[..])), line, scratch);
    tell(Model::open(&Chip, scratch), line, scratch);
}

/// Tells what is wrong with a network or answers with it.
fn tell(model: Result<Model<'_>, ModelError>, line: &[u8], scratch: &mut [u8]) {
    match model {
        Ok(model) => {
            let _ = digest(&model, line, scratch, &mut Sink);
            answer(Board { weights: &viveka::FITTED, net: Some((&model, scratch)) }, line);
        }
        Err(error) => {
            let _ = fmt::write(&mut Sink, format_args!("{error}"));
        }
    }
}

fn answer(mut board: Board<'_>, line: &[u8]) {
    let _ = board.answer_in_stages(line, &mut Sink, &mut |stage| {
        black_box(stage);
    });
}
