//! Whether the network answers on this chip as on the host: a FEN line in, a digest of every
//! legal move's logit and of the value out.
//!
//! The first UART carries both, in the format of [`kibitzer_core::board::digest`]; the byte 4
//! (Ctrl-D) ends the conversation. The second, where there is one, tells `stack`, the bytes of the
//! deepest stack beyond the network's scratch.
#![no_std]
#![no_main]

use core::fmt;

use kibitzer_core::board::digest;
use kibitzer_firmware::end::exit;
use kibitzer_firmware::line::Lines;
use kibitzer_firmware::uart::{self, Ports};
use kibitzer_firmware::{entry, net};

#[entry]
fn main() -> ! {
    let ports = uart::take().expect("nobody took them before main");
    exit(converse(ports).is_ok())
}

fn converse(ports: Ports) -> fmt::Result {
    let Ports { input, mut output, .. } = ports;
    let mut scratch = [0; net::SCRATCH_BYTES];
    let model = net::open();
    let mut lines = Lines::new(input);
    while let Ok(Some(line)) = lines.next_line() {
        digest(&model, line, &mut scratch, &mut output)?;
    }
    #[cfg(not(board = "virt"))]
    {
        use core::fmt::Write as _;
        let mut diagnostics = ports.diagnostics;
        // The scratch lies on the stack, too.
        let stack = kibitzer_firmware::stack::deepest() - scratch.len();
        writeln!(diagnostics, "stack {stack}")?;
    }
    Ok(())
}
