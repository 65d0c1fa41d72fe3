//! The board's serial ports, polled: 8 data bits, no parity, one stop bit.
#[cfg(not(board = "virt"))]
mod cmsdk;
#[cfg(board = "virt")]
mod ns16550;

use core::convert::Infallible;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};

use embedded_io::{ErrorType, Read};

#[cfg(not(board = "virt"))]
use cmsdk::{UART0, UART1, UART2, Uart};
#[cfg(board = "virt")]
use ns16550::{UART0, Uart};

/// The ports that the programs use.
pub struct Ports {
    /// The receiving half of the first UART.
    pub input: Receiver,
    /// The transmitting half of the first UART.
    pub output: Transmitter,
    /// The transmitting half of the second UART, where the board has one.
    #[cfg(not(board = "virt"))]
    pub diagnostics: Transmitter,
    /// Its receiving half.
    #[cfg(not(board = "virt"))]
    pub link: Receiver,
    /// Both halves of the third.
    #[cfg(not(board = "virt"))]
    pub store: (Receiver, Transmitter),
}

/// All ports, switched on; `None` from the second call on, so that no two drivers share a half.
pub fn take() -> Option<Ports> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    // No interrupt calls this, and a Cortex-M0 has no instruction that swaps.
    if TAKEN.load(Ordering::Relaxed) {
        return None;
    }
    TAKEN.store(true, Ordering::Relaxed);
    let uart = Uart::start(UART0);
    Some(Ports {
        input: Receiver(uart),
        output: Transmitter(uart),
        #[cfg(not(board = "virt"))]
        diagnostics: Transmitter(Uart::start(UART1)),
        #[cfg(not(board = "virt"))]
        link: Receiver(Uart::start(UART1)),
        #[cfg(not(board = "virt"))]
        store: (Receiver(Uart::start(UART2)), Transmitter(Uart::start(UART2))),
    })
}

/// The first UART's transmitter for a panic's last words, whoever else holds it.
pub fn last_words() -> Transmitter {
    Transmitter(Uart::start(UART0))
}

/// The second UART's transmitter for a log, whoever else holds it.
#[cfg(feature = "logging")]
pub fn log() -> Transmitter {
    Transmitter(Uart::start(UART1))
}

/// The receiving half of a UART.
pub struct Receiver(Uart);

#[cfg(not(board = "virt"))]
impl Receiver {
    /// The byte that has come, if one has.
    pub fn poll(&mut self) -> Option<u8> {
        self.0.poll()
    }
}

#[cfg(not(board = "virt"))]
impl Transmitter {
    /// Sends a byte that need not be text.
    pub fn send(&mut self, byte: u8) {
        self.0.send(byte);
    }
}

impl ErrorType for Receiver {
    type Error = Infallible;
}

impl Read for Receiver {
    /// Waits for one byte; the hardware buffers no more.
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Infallible> {
        let Some(first) = bytes.first_mut() else { return Ok(0) };
        *first = self.0.receive();
        Ok(1)
    }
}

/// The transmitting half of a UART.
pub struct Transmitter(Uart);

impl fmt::Write for Transmitter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| self.0.send(byte));
        Ok(())
    }
}
