//! The CMSDK APB UART of Arm's MPS2 boards, polled.
//!
//! Registers live at fixed bus addresses, hence the `unsafe` of this file.
#![allow(unsafe_code)]
use core::convert::Infallible;
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};

use embedded_io::{ErrorType, Read, Write};

const PERIPHERAL_CLOCK_HZ: u32 = 25_000_000;
const BAUD: u32 = 115_200;

/// Bus addresses of the board's first two UARTs.
const UART0: usize = 0x4000_4000;
const UART1: usize = 0x4000_5000;

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

/// One UART: 8 data bits, no parity, one stop bit.
pub struct Uart {
    base: usize,
}

/// UART0 for the conversation and UART1 for diagnostics; `None` from the second call on, so that
/// no two drivers share a UART.
pub fn take() -> Option<(Uart, Uart)> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if TAKEN.swap(true, Ordering::Relaxed) {
        return None;
    }
    Some((Uart::start(UART0), Uart::start(UART1)))
}

/// UART0 for a panic's last words, whoever else holds it.
pub fn last_words() -> Uart {
    Uart::start(UART0)
}

impl Uart {
    fn start(base: usize) -> Self {
        let mut uart = Self { base };
        uart.set(Register::BaudDivider, PERIPHERAL_CLOCK_HZ / BAUD);
        uart.set(Register::Control, TRANSMIT_ENABLE | RECEIVE_ENABLE);
        uart
    }

    fn get(&self, register: Register) -> u32 {
        // SAFETY: `base` is one of the two constants above, where the board has a UART with this
        // register; addresses are 4-aligned, and reading has no effect on memory.
        unsafe { ptr::read_volatile((self.base + register as usize) as *const u32) }
    }

    fn set(&mut self, register: Register, value: u32) {
        // SAFETY: as in `get`; the UART writes no memory, whatever its registers hold.
        unsafe { ptr::write_volatile((self.base + register as usize) as *mut u32, value) }
    }

    fn wait_while(&self, state: u32) {
        while self.get(Register::State) & state != 0 {}
    }
}

impl ErrorType for Uart {
    type Error = Infallible;
}

impl Read for Uart {
    /// Waits for one byte; the hardware buffers no more.
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Infallible> {
        let Some(first) = bytes.first_mut() else { return Ok(0) };
        while self.get(Register::State) & RECEIVE_FULL == 0 {}
        // The upper bits of Data are reserved.
        *first = (self.get(Register::Data) & 0xff) as u8;
        Ok(1)
    }
}

impl Write for Uart {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        for &byte in bytes {
            self.wait_while(TRANSMIT_FULL);
            self.set(Register::Data, u32::from(byte));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        self.wait_while(TRANSMIT_FULL);
        Ok(())
    }
}
