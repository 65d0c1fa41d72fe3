//! How a program ends.
#[cfg(board = "virt")]
mod finisher;
#[cfg(not(board = "virt"))]
mod semihosting;

use core::fmt::Write as _;
use core::panic::PanicInfo;

#[cfg(board = "virt")]
use finisher as emulation;
#[cfg(not(board = "virt"))]
use semihosting as emulation;

use crate::uart;

/// Ends the emulation, with the status of a success or a failure. On a board without a debugger it
/// stops here.
pub fn exit(succeeded: bool) -> ! {
    emulation::end(succeeded);
    loop {
        emulation::wait();
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // Nothing is left to do if even this fails.
    let _ = writeln!(uart::last_words(), "{info}");
    exit(false)
}
