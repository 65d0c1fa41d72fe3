//! A chessboard's firmware: a FEN line in, Viveka's and the network's answer out.
//!
//! UART0 carries the conversation, in the format of [`kibitzer_core::board`]; the byte 4 (Ctrl-D)
//! ends it. UART1 tells what each answer cost in ticks of the 25 MHz SysTick: a line for each stage,
//! such as `scan 4711`, then `ticks` for all; and at the end `stack`, the bytes of the deepest
//! stack.
#![no_std]
#![no_main]

use core::fmt::{self, Write as _};

use kibitzer_core::board::Board;
use kibitzer_core::viveka;
use kibitzer_firmware::clock::Clock;
use kibitzer_firmware::end::exit;
use kibitzer_firmware::line::Lines;
#[cfg(feature = "net")]
use kibitzer_firmware::net;
use kibitzer_firmware::uart::{self, Ports};
use kibitzer_firmware::{entry, stack};

#[entry]
fn main() -> ! {
    // The runtime hands this out once, as `&'static mut`.
    #[cfg(feature = "net")]
    static mut SCRATCH: [u8; net::SCRATCH_BYTES] = [0; net::SCRATCH_BYTES];

    let core = cortex_m::Peripherals::take().expect("nobody took them before main");
    let ports = uart::take().expect("nobody took them before main");
    let clock = Clock::start(core.SYST);
    #[cfg(feature = "net")]
    let model = net::open();
    #[cfg(feature = "net")]
    let net = Some((&model, &mut SCRATCH[..]));
    #[cfg(not(feature = "net"))]
    let net = None;
    let board = Board { weights: &viveka::FITTED, net };
    exit(converse(board, ports, &clock).is_ok())
}

/// Answers line after line until the other side ends the transmission.
///
/// Inlined, so that where there is no network the compiler sees it and leaves inference out.
#[inline(always)]
fn converse(mut board: Board<'_>, ports: Ports, clock: &Clock) -> fmt::Result {
    let Ports { input, mut output, mut diagnostics, .. } = ports;
    let mut lines = Lines::new(input);
    while let Ok(Some(line)) = lines.next_line() {
        let start = clock.ticks();
        let mut last = start;
        board.answer_in_stages(line, &mut output, &mut |stage| {
            let now = clock.ticks();
            let _ = writeln!(diagnostics, "{stage} {}", now - last);
            // What the line itself takes belongs to no stage.
            last = clock.ticks();
        })?;
        writeln!(diagnostics, "ticks {}", clock.ticks() - start)?;
    }
    writeln!(diagnostics, "stack {}", stack::deepest())
}
