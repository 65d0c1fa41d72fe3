//! 64 contacts on a chain of eight shift registers 74HC165.
//!
//! The pin SH/LD of all registers takes the contacts in while it is low; QH of a register goes to SER
//! of the one before it, QH of the first to the data line of SPI (mode 0, at most 5 MHz at 3.3 V). A
//! register gives its input H first. Contact 0 is input A of the first register, contact 7 its H,
//! contact 8 input A of the second. With contacts to ground and pull-up resistors a closed one reads
//! low ([`Closed::Low`]).
use embedded_hal::{delay::DelayNs, digital::OutputPin, spi::SpiDevice};
use shakmaty::Bitboard;

use super::Wiring;

/// Nanoseconds for which SH/LD is low, and for which the chain rests afterwards.
const LOAD: u32 = 500;

/// How a closed contact reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Closed {
    /// Contacts to ground.
    Low,
    /// Contacts to the supply.
    High,
}

/// What did not obey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hc165Error<S, P> {
    /// The bus.
    Spi(S),
    /// The pin SH/LD.
    Latch(P),
}

/// The chain.
#[derive(Debug)]
pub struct Hc165<S, P, D> {
    spi: S,
    latch: P,
    delay: D,
    closed: Closed,
    wiring: Wiring,
}

impl<S: SpiDevice, P: OutputPin, D: DelayNs> Hc165<S, P, D> {
    /// The bus, the pin at SH/LD, and how a closed contact reads.
    pub fn new(spi: S, latch: P, delay: D, closed: Closed, wiring: Wiring) -> Self {
        Hc165 { spi, latch, delay, closed, wiring }
    }

    /// The bus, the pin and the timer, given back.
    pub fn release(self) -> (S, P, D) {
        (self.spi, self.latch, self.delay)
    }

    /// The occupied squares.
    ///
    /// # Errors
    /// What did not obey.
    pub fn scan(&mut self) -> Result<Bitboard, Hc165Error<S::Error, P::Error>> {
        self.latch.set_low().map_err(Hc165Error::Latch)?;
        self.delay.delay_ns(LOAD);
        self.latch.set_high().map_err(Hc165Error::Latch)?;
        self.delay.delay_ns(LOAD);
        let mut registers = [0; 8];
        self.spi.read(&mut registers).map_err(Hc165Error::Spi)?;
        let contacts = u64::from_le_bytes(registers);
        Ok(self.wiring.occupied(match self.closed {
            Closed::High => contacts,
            Closed::Low => !contacts,
        }))
    }
}
