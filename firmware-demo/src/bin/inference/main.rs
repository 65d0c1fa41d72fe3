//! The network alone, without rules: what its code takes of flash, and an inference of stack and
//! instructions.
//!
//! It scores the twenty moves of the initial position. UART0 tells a digest of the logits and the
//! value, as the core's example of the same name does on the host; UART1 the bytes of scratch, those
//! of the deepest stack beyond it, and the ticks, of the 25 MHz SysTick, that the inference took. All
//! numbers are hexadecimal: nothing here needs the code that formats others.
#![no_std]
#![no_main]

#[cfg(all(smallest, target_arch = "arm"))]
mod memory;

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
    // Not a byte more: with more, more squares would pass together.
    let scratch = scratch.get_mut(..model.scratch_bytes())?;
    let mut logits = [0; FIRST_MOVES];
    let start = clock.ticks();
    let digest = score_first_moves(&model, &mut logits, scratch).ok()?;
    let ticks = clock.ticks() - start;
    let stack = stack::deepest();
    write(&mut output, b"digest ", digest);
    write(&mut diagnostics, b"scratch ", model.scratch_bytes() as u64);
    write(&mut diagnostics, b"stack ", stack as u64);
    write(&mut diagnostics, b"ticks ", ticks);
    Some(())
}

/// A line of a name and a number.
#[inline(never)]
fn write(port: &mut Transmitter, name: &[u8], number: u64) {
    name.iter().for_each(|&byte| port.send(byte));
    for digit in (0..16).rev() {
        let digit = (number >> (4 * digit) & 15) as u8;
        port.send(if digit < 10 { b'0' + digit } else { b'a' - 10 + digit });
    }
    port.send(b'\n');
}
