//! The CMSDK APB UART of Arm's MPS2 and MPS3 boards.
//!
//! Registers live at fixed bus addresses, hence the `unsafe` of this file.
#![allow(unsafe_code)]
use core::ptr;

const PERIPHERAL_CLOCK_HZ: u32 = 25_000_000;
const BAUD: u32 = 115_200;

/// Bus addresses of the board's first three UARTs; of the boards with TrustZone, those of the secure
/// state, in which their cores start.
#[cfg(board = "mps2")]
const UARTS: [usize; 3] = [0x4000_4000, 0x4000_5000, 0x4000_6000];
#[cfg(board = "an505")]
const UARTS: [usize; 3] = [0x5020_0000, 0x5020_1000, 0x5020_2000];
#[cfg(board = "mps3")]
const UARTS: [usize; 3] = [0x5930_3000, 0x5930_4000, 0x5930_5000];
/// The first UART.
pub const UART0: usize = UARTS[0];
/// The second UART.
pub const UART1: usize = UARTS[1];
/// The third UART.
pub const UART2: usize = UARTS[2];

/// Byte offsets of the registers in use.
#[derive(Clone, Copy)]
enum Register {
    Data = 0x00,
    State = 0x04,
    Control = 0x08,
    BaudDivider = 0x10,
}

// Bits of State.
const TRANSMIT_FULL: u32 = 1 << 0;
const RECEIVE_FULL: u32 = 1 << 1;
// Bits of Control.
const TRANSMIT_ENABLE: u32 = 1 << 0;
const RECEIVE_ENABLE: u32 = 1 << 1;

/// One UART's register block.
#[derive(Clone, Copy)]
pub struct Uart {
    base: usize,
}

impl Uart {
    /// Switches on the UART at `base`, one of the constants above.
    pub fn start(base: usize) -> Self {
        let uart = Self { base };
        uart.set(Register::BaudDivider, PERIPHERAL_CLOCK_HZ / BAUD);
        uart.set(Register::Control, TRANSMIT_ENABLE | RECEIVE_ENABLE);
        uart
    }

    /// Waits for a byte.
    pub fn receive(self) -> u8 {
        loop {
            if let Some(byte) = self.poll() {
                return byte;
            }
        }
    }

    /// The byte that has come, if one has.
    pub fn poll(self) -> Option<u8> {
        let is_there = self.get(Register::State) & RECEIVE_FULL != 0;
        // The upper bits of Data are reserved.
        is_there.then(|| (self.get(Register::Data) & 0xff) as u8)
    }

    /// Sends a byte, once there is room.
    pub fn send(self, byte: u8) {
        while self.get(Register::State) & TRANSMIT_FULL != 0 {}
        self.set(Register::Data, u32::from(byte));
    }

    fn get(self, register: Register) -> u32 {
        // SAFETY: `base` is one of the constants above, where the board has a UART with this
        // register; addresses are 4-aligned, and reading has no effect on memory.
        unsafe { ptr::read_volatile((self.base + register as usize) as *const u32) }
    }

    fn set(self, register: Register, value: u32) {
        // SAFETY: as in `get`; the UART writes no memory, whatever its registers hold.
        unsafe { ptr::write_volatile((self.base + register as usize) as *mut u32, value) }
    }
}
