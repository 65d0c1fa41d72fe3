//! The CMSDK APB watchdog of Arm's MPS2 boards: a program that hangs is started anew.
//!
//! Registers live at fixed bus addresses, hence the `unsafe` of this file.
#![allow(unsafe_code)]
use core::ptr;

/// Bus address of the registers.
const BASE: usize = 0x4000_8000;
/// Ticks of its clock in a second.
const CLOCK_HZ: u32 = 25_000_000;
/// Milliseconds without a sign of life after which it warns, and after as many more resets the chip.
/// The dearest stage of a thought takes two hundred of them.
const PATIENCE_MS: u32 = 500;
/// What unlocks the registers.
const KEY: u32 = 0x1acc_e551;
/// Bits of Control: count, and reset.
const COUNT_AND_RESET: u32 = 0b11;

/// Byte offsets of the registers in use.
#[derive(Clone, Copy)]
enum Register {
    Load = 0x000,
    Control = 0x008,
    Clear = 0x00c,
    Lock = 0xc00,
}

/// The running watchdog.
pub struct Watchdog(());

impl Watchdog {
    /// Starts it; it cannot be stopped but by a hand that knows the key.
    pub fn start() -> Self {
        let watchdog = Self(());
        watchdog.set(Register::Lock, KEY);
        watchdog.set(Register::Load, PATIENCE_MS * (CLOCK_HZ / 1_000));
        watchdog.set(Register::Control, COUNT_AND_RESET);
        watchdog
    }

    /// Tells it that the program lives.
    pub fn feed(&self) {
        // Loads the count anew, too.
        self.set(Register::Clear, 1);
    }

    fn set(&self, register: Register, value: u32) {
        // SAFETY: the board has these registers at this address, 4-aligned; the watchdog writes no
        // memory, whatever they hold.
        unsafe { ptr::write_volatile((BASE + register as usize) as *mut u32, value) }
    }
}
