//! The proof that the core cannot panic, whatever it is given: this program links.
//!
//! Its panic handler calls a function that exists nowhere. Where the compiler finds that no panic can
//! be reached it leaves the handler out, and the linker misses nothing; where one may be, linking
//! fails. It reads a line and networks of which the compiler knows nothing, answers as a
//! chessboard does, takes the line as an app's messages, too, keeps a game in flash, and is never run:
//! `cargo xtask proof` links it for a Cortex-M4 and a Cortex-M0+.
//!
//! A function without a body is declared, hence the `unsafe` of this file.
#![no_std]
#![no_main]
#![allow(unsafe_code)]

mod flash;
mod parts;
mod table;

use core::fmt;
use core::hint::black_box;
use core::panic::PanicInfo;

use cortex_m_rt::entry;
use kibitzer_core::{
    board::{Board, MAX_LINE, digest},
    lamps::Frame,
    net::{Model, ModelError, ReadError, Source},
    protocol::{
        self, Certabo, Cpp, Full, Order, Pegasus, Protocol, Report, View,
        cpp::{Features, Link},
        pegasus::Identity,
    },
    shakmaty::{Bitboard, Chess, uci::UciMove},
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
        talk(line);
        flash::keep(line);
    }
}

impl protocol::Sink for Sink {
    fn send(&mut self, message: &[u8]) -> Result<(), Full> {
        black_box(message);
        if black_box(true) { Ok(()) } else { Err(Full) }
    }
}

/// Talks to an app in each protocol, and shows a frame.
fn talk(line: &[u8]) {
    let identity =
        black_box(Identity { trademark: "", serial: "", version: [0; 2], hardware: [0; 2] });
    let all = [
        Protocol::Cpp(Cpp::new(black_box(Link::Serial), black_box(Features::ALL))),
        Protocol::Pegasus(Pegasus::new(identity)),
        Protocol::Certabo(Certabo::new()),
    ];
    for mut protocol in all {
        table::run(None, protocol.clone(), line);
        for &byte in line {
            hear(protocol.receive(byte, black_box(0), &mut Sink), &mut protocol);
        }
        hear(protocol.end_of_packet(&mut Sink), &mut protocol);
        protocol.disconnected();
    }
    if let Some(frame) = core::str::from_utf8(line).ok().and_then(Frame::parse) {
        let _ = fmt::write(&mut Sink, format_args!("{frame}"));
        parts::work(&frame);
    }
}

/// Obeys an order by every report there is.
fn hear(order: Option<Order>, protocol: &mut Protocol) {
    let Some(order) = order else { return };
    black_box(&order);
    let position = if let Order::Begin(position) = &order { position } else { &Chess::default() };
    let (occupied, known) = (Bitboard(black_box(0)), Bitboard(black_box(0)));
    let view = View { occupied, known, position };
    let uci = if let Order::Move(uci) = order { uci } else { black_box(UciMove::Null) };
    for report in [
        Report::Sync(view),
        Report::Unsync(view),
        Report::State(view),
        Report::Move(uci),
        Report::Undo(uci),
        Report::Moved,
        Report::Resign,
        Report::DrawOffer,
        Report::DrawAnswer(black_box(true)),
        Report::Error(black_box("")),
        Report::Occupancy(occupied),
        Report::Dump(occupied),
    ] {
        let _ = black_box(protocol.report(&report, &mut Sink));
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
