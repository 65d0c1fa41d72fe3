//! The core's errors and answers logged by defmt, as a firmware's author may have them: that it links,
//! and that frames come.
//!
//! UART1 carries the frames, each ended by a zero, as defmt's decoders read them; UART0 says how many
//! there are.
#![no_std]
#![no_main]

mod logger;

use core::fmt::Write as _;

use kibitzer_core::net::{Evaluation, Model};
use kibitzer_core::position::parse_fen;
use kibitzer_core::viveka::{Analysis, FITTED, analyse_into};
use kibitzer_firmware::end::exit;
use kibitzer_firmware::{entry, net, uart};

const FEN: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

#[entry]
fn main() -> ! {
    // The runtime hands it out once, as `&'static mut`.
    static mut SCRATCH: [u8; net::SCRATCH_BYTES] = [0; net::SCRATCH_BYTES];

    let frames = log(SCRATCH);
    let mut output = uart::last_words();
    exit(frames.is_some_and(|frames| writeln!(output, "frames {frames}").is_ok()))
}

/// Logs what the core says of a position, of its network, and of what is none; the frames that were
/// sent.
fn log(scratch: &mut [u8]) -> Option<u32> {
    let model = net::open();
    defmt::info!("a network of {} with {}", model.config(), model.precision());
    let position = parse_fen(FEN).ok()?;
    let mut answer = Evaluation::default();
    model.evaluate_into(&mut answer, &position, scratch).ok()?;
    defmt::info!("it answers {}", answer);
    let mut analysis = Analysis::default();
    analyse_into(&mut analysis, &position, None, &FITTED, &mut |stage| {
        defmt::debug!("{}", stage);
    });
    defmt::info!("Viveka answers {}", analysis);
    defmt::warn!("{}", parse_fen("8/8/8/8/8/8/8/8 w - - 0 1").err()?);
    defmt::warn!("{}", parse_fen("no board").err()?);
    defmt::error!("{}", Model::parse(b"no network").err()?);
    defmt::error!("{}", model.evaluate(&position, &mut []).err()?);
    Some(logger::frames())
}
