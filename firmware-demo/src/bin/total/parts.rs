//! Parts of which the compiler knows nothing, and the drivers at work on them.
use core::hint::black_box;

use embedded_hal::{
    delay::DelayNs,
    digital::{self, InputPin, OutputPin},
    i2c::{self, I2c},
    spi::{self, SpiBus, SpiDevice},
};
use embedded_hal_nb::{nb, serial};
use kibitzer_core::{
    drivers::{
        Hc165, Ht16k33, Matrix, Uart, Wiring, Ws2812,
        hc165::Closed,
        ht16k33::{ADDRESS, Lamps},
        ws2812::{Encoding, Supply, milliamps},
    },
    lamps::Frame,
    protocol::Outbox,
    shakmaty::{Bitboard, Square},
};

/// A pin, a bus, a timer or a line, which may fail at any time.
struct Part;

/// What it fails by.
#[derive(Debug, Clone, Copy)]
struct Fault;

impl Part {
    /// Takes and gives what it may, or fails.
    fn act<T>(&mut self, with: T) -> Result<T, Fault> {
        let with = black_box(with);
        if black_box(true) { Ok(with) } else { Err(Fault) }
    }
}

impl digital::Error for Fault {
    fn kind(&self) -> digital::ErrorKind {
        digital::ErrorKind::Other
    }
}

impl spi::Error for Fault {
    fn kind(&self) -> spi::ErrorKind {
        spi::ErrorKind::Other
    }
}

impl i2c::Error for Fault {
    fn kind(&self) -> i2c::ErrorKind {
        i2c::ErrorKind::Other
    }
}

impl serial::Error for Fault {
    fn kind(&self) -> serial::ErrorKind {
        black_box(serial::ErrorKind::Overrun)
    }
}

impl digital::ErrorType for Part {
    type Error = Fault;
}

impl spi::ErrorType for Part {
    type Error = Fault;
}

impl i2c::ErrorType for Part {
    type Error = Fault;
}

impl serial::ErrorType for Part {
    type Error = Fault;
}

impl OutputPin for Part {
    fn set_low(&mut self) -> Result<(), Fault> {
        self.act(())
    }

    fn set_high(&mut self) -> Result<(), Fault> {
        self.act(())
    }
}

impl InputPin for Part {
    fn is_high(&mut self) -> Result<bool, Fault> {
        self.act(true)
    }

    fn is_low(&mut self) -> Result<bool, Fault> {
        self.act(true)
    }
}

impl DelayNs for Part {
    fn delay_ns(&mut self, ns: u32) {
        black_box(ns);
    }
}

impl SpiDevice for Part {
    fn transaction(&mut self, operations: &mut [spi::Operation<'_, u8>]) -> Result<(), Fault> {
        self.act(operations).map(|_| ())
    }
}

impl SpiBus for Part {
    fn read(&mut self, words: &mut [u8]) -> Result<(), Fault> {
        self.act(words).map(|_| ())
    }

    fn write(&mut self, words: &[u8]) -> Result<(), Fault> {
        self.act(words).map(|_| ())
    }

    fn transfer(&mut self, read: &mut [u8], write: &[u8]) -> Result<(), Fault> {
        self.act((read, write)).map(|_| ())
    }

    fn transfer_in_place(&mut self, words: &mut [u8]) -> Result<(), Fault> {
        self.act(words).map(|_| ())
    }

    fn flush(&mut self) -> Result<(), Fault> {
        self.act(())
    }
}

impl I2c for Part {
    fn transaction(
        &mut self,
        address: u8,
        operations: &mut [i2c::Operation<'_>],
    ) -> Result<(), Fault> {
        self.act((address, operations)).map(|_| ())
    }
}

impl serial::Read for Part {
    fn read(&mut self) -> nb::Result<u8, Fault> {
        if black_box(true) { Ok(self.act(0)?) } else { Err(nb::Error::WouldBlock) }
    }
}

impl serial::Write for Part {
    fn write(&mut self, word: u8) -> nb::Result<(), Fault> {
        if black_box(true) { Ok(self.act(word).map(|_| ())?) } else { Err(nb::Error::WouldBlock) }
    }

    fn flush(&mut self) -> nb::Result<(), Fault> {
        Ok(self.act(())?)
    }
}

/// Scans, shows a frame, and reads and writes a line, by every driver.
pub fn work(frame: &Frame) {
    let wiring = Wiring::new(black_box(Square::ALL)).unwrap_or(Wiring::SERPENTINE);
    let wiring = black_box(wiring.turned().mirrored().transposed());

    let pins = || [(); 8].map(|()| Part);
    let mut matrix = Matrix::new(pins(), pins(), Part, black_box(0), wiring);
    see(matrix.scan().ok());
    let mut chain = Hc165::new(Part, Part, Part, black_box(Closed::Low), wiring);
    see(chain.scan().ok());

    let supply = Supply { milliamps: black_box(0), brightness: black_box(0) };
    let mut strip = Ws2812::new(Part, black_box(Encoding::Four), supply, wiring);
    black_box((strip.show(frame).is_ok(), milliamps(frame, supply.dim(frame))));
    let mut lamps = Ht16k33::new(Part, ADDRESS, black_box(Lamps::Backpack), wiring);
    black_box((lamps.init(black_box(0)).is_ok(), lamps.show(frame).is_ok()));

    let mut uart = Uart::<_, 64>::new(Part);
    let mut outbox = black_box(Outbox::<64>::new());
    black_box((uart.poll().is_ok(), uart.take(), uart.send(&mut outbox).is_ok(), uart.faults()));
}

fn see(occupied: Option<Bitboard>) {
    black_box(occupied);
}
