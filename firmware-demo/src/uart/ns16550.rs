//! The NS16550 UART of QEMU's RISC-V board, which needs no setting up.
//!
//! Registers live at fixed bus addresses, hence the `unsafe` of this file.
#![allow(unsafe_code)]
use core::ptr;

/// Bus address of the board's only UART.
pub const UART0: usize = 0x1000_0000;

/// Byte offsets of the registers in use.
#[derive(Clone, Copy)]
enum Register {
    Data = 0,
    LineStatus = 5,
}

// Bits of LineStatus.
const DATA_READY: u8 = 1 << 0;
const TRANSMIT_EMPTY: u8 = 1 << 5;

/// One UART's register block.
#[derive(Clone, Copy)]
pub struct Uart {
    base: usize,
}

impl Uart {
    /// The UART at `base`, which is the constant above.
    pub fn start(base: usize) -> Self {
        Self { base }
    }

    /// Waits for a byte.
    pub fn receive(self) -> u8 {
        while self.get(Register::LineStatus) & DATA_READY == 0 {}
        self.get(Register::Data)
    }

    /// Sends a byte, once there is room.
    pub fn send(self, byte: u8) {
        while self.get(Register::LineStatus) & TRANSMIT_EMPTY == 0 {}
        let data = (self.base + Register::Data as usize) as *mut u8;
        // SAFETY: as in `get`; the UART writes no memory, whatever its registers hold.
        unsafe { ptr::write_volatile(data, byte) }
    }

    fn get(self, register: Register) -> u8 {
        // SAFETY: `base` is the constant above, where the board has a UART with this register of
        // one byte; reading has no effect on memory.
        unsafe { ptr::read_volatile((self.base + register as usize) as *const u8) }
    }
}
