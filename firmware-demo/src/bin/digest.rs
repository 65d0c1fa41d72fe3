//! Whether the network answers on this chip as on the host: a FEN line in, a digest of every
//! legal move's logit and of the value out.
//!
//! The first UART carries both, in the format of [`kibitzer_core::board::digest`]; the byte 4
//! (Ctrl-D) ends the conversation. The second, or the first where there is no other, tells `stack`,
//! the bytes of the deepest stack beyond the network's scratch.
#![no_std]
#![no_main]

use core::fmt::{self, Write as _};

use kibitzer_core::board::digest;
use kibitzer_firmware::end::exit;
use kibitzer_firmware::line::Lines;
use kibitzer_firmware::uart::{self, Ports};
use kibitzer_firmware::{entry, net, stack};

#[entry]
fn main() -> ! {
    #[cfg(board = "virt")]
    stack::paint();
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
    // The scratch lies on the stack, too.
    let stack = stack::deepest() - scratch.len();
    #[cfg(not(board = "virt"))]
    let mut output = ports.diagnostics;
    writeln!(output, "stack {stack}")
}
