//! The CMSDK APB UART of Arm's MPS2 boards, polled.
//!
//! Registers live at fixed bus addresses, hence the `unsafe` of this file.
#![allow(unsafe_code)]
use core::convert::Infallible;
use core::fmt;
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};

use embedded_io::{ErrorType, Read};

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

/// The ports that the program uses: 8 data bits, no parity, one stop bit.
pub struct Ports {
    /// The receiving half of UART0.
    pub input: Receiver,
    /// The transmitting half of UART0.
    pub output: Transmitter,
    /// The transmitting half of UART1.
    pub diagnostics: Transmitter,
}

/// All ports, switched on; `None` from the second call on, so that no two drivers share a half.
pub fn take() -> Option<Ports> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    // No interrupt calls this, and a Cortex-M0 has no instruction that swaps.
    if TAKEN.load(Ordering::Relaxed) {
        return None;
    }
    TAKEN.store(true, Ordering::Relaxed);
    let (uart0, uart1) = (start(UART0), start(UART1));
    Some(Ports {
        input: Receiver(uart0),
        output: Transmitter(uart0),
        diagnostics: Transmitter(uart1),
    })
}

/// UART0's transmitter for a panic's last words, whoever else holds it.
pub fn last_words() -> Transmitter {
    Transmitter(start(UART0))
}

fn start(base: usize) -> Registers {
    let registers = Registers { base };
    registers.set(Register::BaudDivider, PERIPHERAL_CLOCK_HZ / BAUD);
    registers.set(Register::Control, TRANSMIT_ENABLE | RECEIVE_ENABLE);
    registers
}

/// One UART's register block; made by [`start`] alone.
#[derive(Clone, Copy)]
struct Registers {
    base: usize,
}

impl Registers {
    fn get(self, register: Register) -> u32 {
        // SAFETY: `base` is one of the two constants above, where the board has a UART with this
        // register; addresses are 4-aligned, and reading has no effect on memory.
        unsafe { ptr::read_volatile((self.base + register as usize) as *const u32) }
    }

    fn set(self, register: Register, value: u32) {
        // SAFETY: as in `get`; the UART writes no memory, whatever its registers hold.
        unsafe { ptr::write_volatile((self.base + register as usize) as *mut u32, value) }
    }

    fn state(self) -> u32 {
        self.get(Register::State)
    }
}

/// The receiving half of a UART.
pub struct Receiver(Registers);

impl ErrorType for Receiver {
    type Error = Infallible;
}

impl Read for Receiver {
    /// Waits for one byte; the hardware buffers no more.
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Infallible> {
        let Some(first) = bytes.first_mut() else { return Ok(0) };
        while self.0.state() & RECEIVE_FULL == 0 {}
        // The upper bits of Data are reserved.
        *first = (self.0.get(Register::Data) & 0xff) as u8;
        Ok(1)
    }
}

/// The transmitting half of a UART.
pub struct Transmitter(Registers);

impl fmt::Write for Transmitter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            while self.0.state() & TRANSMIT_FULL != 0 {}
            self.0.set(Register::Data, u32::from(byte));
        }
        Ok(())
    }
}
