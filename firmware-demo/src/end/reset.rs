//! A chip has no outside that a program could end to: it starts anew.
pub use cortex_m::asm::wfi as wait;
use cortex_m::peripheral::SCB;

/// Starts the chip anew.
pub fn end(_succeeded: bool) {
    SCB::sys_reset();
}
