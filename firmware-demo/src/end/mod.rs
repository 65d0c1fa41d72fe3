//! How a program ends.
#[cfg(board = "virt")]
mod finisher;
#[cfg(feature = "chip")]
mod reset;
#[cfg(not(any(board = "virt", feature = "chip")))]
mod semihosting;

#[cfg(not(feature = "chip"))]
use core::fmt::Write as _;
use core::panic::PanicInfo;

#[cfg(board = "virt")]
use finisher as outside;
#[cfg(feature = "chip")]
use reset as outside;
#[cfg(not(any(board = "virt", feature = "chip")))]
use semihosting as outside;

/// Ends the emulation, with the status of a success or a failure; a chip starts anew. On an emulated
/// board without a debugger it stops here.
pub fn exit(succeeded: bool) -> ! {
    outside::end(succeeded);
    loop {
        outside::wait();
    }
}

#[cfg(not(feature = "chip"))]
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // Nothing is left to do if even this fails.
    let _ = writeln!(crate::uart::last_words(), "{info}");
    exit(false)
}

/// A chessboard that goes on with the game it has saved is better than one that stands still.
#[cfg(feature = "chip")]
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    exit(false)
}
