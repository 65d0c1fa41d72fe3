//! How a program ends.
use core::fmt::Write as _;
use core::panic::PanicInfo;

use cortex_m_semihosting::debug::{self, EXIT_FAILURE, EXIT_SUCCESS};

use crate::uart;

/// Ends the emulation, with the status of a success or a failure. On a board without a debugger it
/// stops here.
pub fn exit(succeeded: bool) -> ! {
    debug::exit(if succeeded { EXIT_SUCCESS } else { EXIT_FAILURE });
    loop {
        cortex_m::asm::wfi();
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // Nothing is left to do if even this fails.
    let _ = writeln!(uart::last_words(), "{info}");
    exit(false)
}
