//! The program's one logger: frames to the second UART, with no interrupt in between.
//!
//! The encoder is shared by all who log, and defmt's trait asks for more than the compiler can see:
//! hence the `unsafe` of this file.
#![allow(unsafe_code)]
use core::cell::UnsafeCell;
use core::fmt::Write as _;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use cortex_m::interrupt;
use cortex_m::register::primask;
use defmt::{Encoder, Logger};
use kibitzer_firmware::uart;

/// Somebody logs.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Interrupts came before.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static FRAMES: AtomicU32 = AtomicU32::new(0);
static ENCODER: Shared = Shared(UnsafeCell::new(Encoder::new()));

struct Shared(UnsafeCell<Encoder>);

// SAFETY: the encoder is used between `acquire` and `release` only, with interrupts off, on a chip of
// one core.
unsafe impl Sync for Shared {}

#[defmt::global_logger]
struct Uart;

impl Uart {
    /// Lets `run` use the encoder, and sends what it writes.
    ///
    /// # Safety
    /// The logger is acquired.
    unsafe fn encode(run: impl FnOnce(&mut Encoder, &mut dyn FnMut(&[u8]))) {
        let mut line = uart::log();
        let mut send = |bytes: &[u8]| bytes.iter().for_each(|&byte| line.send(byte));
        // SAFETY: whoever acquired the logger is alone, and `run` does not log.
        run(unsafe { &mut *ENCODER.0.get() }, &mut send);
    }
}

// SAFETY: interrupts are off from `acquire` to `release`, so that nobody else acquires it there; who
// does so twice is stopped.
unsafe impl Logger for Uart {
    fn acquire() {
        let active = primask::read().is_active();
        interrupt::disable();
        if TAKEN.load(Relaxed) {
            let _ = uart::last_words().write_str("logging while logging\n");
            kibitzer_firmware::end::exit(false);
        }
        TAKEN.store(true, Relaxed);
        INTERRUPTED.store(active, Relaxed);
        // SAFETY: acquired above.
        unsafe { Self::encode(|encoder, send| encoder.start_frame(send)) }
    }

    unsafe fn flush() {}

    unsafe fn release() {
        // SAFETY: the caller has acquired it.
        unsafe { Self::encode(|encoder, send| encoder.end_frame(send)) }
        FRAMES.store(frames() + 1, Relaxed);
        TAKEN.store(false, Relaxed);
        if INTERRUPTED.load(Relaxed) {
            // SAFETY: they were on before `acquire`.
            unsafe { interrupt::enable() }
        }
    }

    unsafe fn write(bytes: &[u8]) {
        // SAFETY: the caller has acquired it.
        unsafe { Self::encode(|encoder, send| encoder.write(bytes, send)) }
    }
}

/// Frames sent so far.
pub fn frames() -> u32 {
    FRAMES.load(Relaxed)
}
