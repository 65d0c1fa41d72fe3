//! The network alone, without rules: what its code takes of flash, and an inference of stack and
//! instructions.
//!
//! It scores the twenty moves of the initial position. UART0 tells a digest of the logits and the
//! value, as the core's example of the same name does on the host; UART1 the bytes of scratch, those
//! of the deepest stack beyond it, and the ticks, of the 25 MHz SysTick, that the inference took. All
//! numbers are hexadecimal: nothing here needs the code that formats others.
#![no_std]
#![no_main]

use core::fmt::{self, Write as _};

#[cfg(board = "mps3")]
use kibitzer_core::net::FULL as LARGEST;
#[cfg(not(board = "mps3"))]
use kibitzer_core::net::M7 as LARGEST;
use kibitzer_core::net::Model;
use kibitzer_core::net::infer::self_test::{FIRST_MOVES, score_first_moves};
use kibitzer_firmware::clock::Clock;
use kibitzer_firmware::end::exit;
use kibitzer_firmware::uart::{self, Ports, Transmitter};
use kibitzer_firmware::{entry, net, stack};

/// Bytes of RAM for the inference of every preset that is measured on the board.
const SCRATCH_BYTES: usize = LARGEST.scratch_bytes();

#[entry]
fn main() -> ! {
    // The runtime hands it out once, as `&'static mut`.
    static mut SCRATCH: [u8; SCRATCH_BYTES] = [0; SCRATCH_BYTES];

    exit(tell(SCRATCH).is_some())
}

fn tell(scratch: &mut [u8]) -> Option<()> {
    let core = cortex_m::Peripherals::take()?;
    let Ports { mut output, mut diagnostics, .. } = uart::take()?;
    let clock = Clock::start(core.SYST);
    let model = Model::parse(net::file()).ok()?;
    let mut logits = [0; FIRST_MOVES];
    let start = clock.ticks();
    let digest = score_first_moves(&model, &mut logits, scratch).ok()?;
    let ticks = clock.ticks() - start;
    let stack = stack::deepest();
    write(&mut output, "digest", digest).ok()?;
    write(&mut diagnostics, "scratch", model.scratch_bytes() as u64).ok()?;
    write(&mut diagnostics, "stack", stack as u64).ok()?;
    write(&mut diagnostics, "ticks", ticks).ok()
}

/// A line of a name and a number.
fn write(port: &mut Transmitter, name: &str, number: u64) -> fmt::Result {
    port.write_str(name)?;
    port.write_str(" ")?;
    for digit in (0..16).rev() {
        let digit = (number >> (4 * digit) & 15) as u8;
        let text = [if digit < 10 { b'0' + digit } else { b'a' - 10 + digit }];
        port.write_str(core::str::from_utf8(&text).unwrap_or_default())?;
    }
    port.write_str("\n")
}
