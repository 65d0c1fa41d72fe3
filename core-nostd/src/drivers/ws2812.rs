//! 64 lamps WS2812 (or SK6812 of three colours) in a row, on the data line of SPI.
//!
//! A lamp tells 0 from 1 by how long the line is high, so each of its bits is sent as three bits of
//! SPI at 2.4 MHz or four at 3.2 MHz; which of them a chip's clock can divide to is the choice
//! ([`Encoding`]). A frame is one write: between its bytes the line must not rest. Its zeros at the
//! end are the 280 µs after which the lamps show it.
//!
//! A white lamp at full brightness takes 60 mA, 64 of them 3.8 A. So a frame is dimmed as a whole to
//! what the supply gives ([`Supply`]).
use embedded_hal::spi::SpiBus;
use heapless::Vec;

use super::Wiring;
use crate::lamps::{Colour, Frame};

/// Lamps.
const LAMPS: u32 = 64;
/// Microamperes of a lamp that is dark.
const IDLE: u32 = 1_000;
/// Microamperes of one color at full brightness.
const COLOR: u32 = 20_000;
/// Bytes of a frame: a zero, 64 lamps of three colors at up to four bytes, the pause.
const MAX_BYTES: usize = 1 + 64 * 3 * 4 + 112;

/// How a bit is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Encoding {
    /// As `100` or `110`, at 2.4 MHz.
    Three,
    /// As `1000` or `1110`, at 3.2 MHz.
    Four,
}

impl Encoding {
    /// Bits of SPI for a bit of a lamp.
    const fn bits(self) -> u32 {
        match self {
            Encoding::Three => 3,
            Encoding::Four => 4,
        }
    }

    /// Bytes of 280 µs.
    const fn pause(self) -> usize {
        match self {
            Encoding::Three => 84,
            Encoding::Four => 112,
        }
    }

    /// The bits of SPI for a byte of a lamp, the last of them lowest.
    fn encode(self, byte: u8) -> u32 {
        let [zero, one] = match self {
            Encoding::Three => [0b100, 0b110],
            Encoding::Four => [0b1000, 0b1110],
        };
        (0..8).rev().fold(0, |word, place| {
            let bit = if byte >> place & 1 == 1 { one } else { zero };
            word << self.bits() | bit
        })
    }
}

/// What the lamps may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Supply {
    /// Milliamperes for all lamps together: of USB's 500, what the rest of the board leaves.
    pub milliamps: u32,
    /// Brightness from 0 to 255, whatever the supply gives.
    pub brightness: u8,
}

/// The lamps.
#[derive(Debug)]
pub struct Ws2812<S> {
    spi: S,
    encoding: Encoding,
    /// What they may take; may be changed at any time.
    pub supply: Supply,
    wiring: Wiring,
    bytes: Vec<u8, MAX_BYTES>,
}

impl<S: SpiBus> Ws2812<S> {
    /// A bus at the clock of `encoding`, and the order of the lamps.
    pub fn new(spi: S, encoding: Encoding, supply: Supply, wiring: Wiring) -> Self {
        Ws2812 { spi, encoding, supply, wiring, bytes: Vec::new() }
    }

    /// The bus, given back.
    pub fn release(self) -> S {
        self.spi
    }

    /// Shows a frame. Takes some 2 ms on the bus.
    ///
    /// # Errors
    /// Those of the bus.
    pub fn show(&mut self, frame: &Frame) -> Result<(), S::Error> {
        let brightness = self.supply.dim(frame);
        self.bytes.clear();
        self.push(&[0]);
        for &square in &self.wiring.squares().clone() {
            let [red, green, blue] = frame.get(square).rgb().map(|color| scale(color, brightness));
            for color in [green, red, blue] {
                let word = self.encoding.encode(color).to_be_bytes();
                let unused = 4usize.saturating_sub(self.encoding.bits() as usize);
                self.push(word.get(unused..).unwrap_or(&[]));
            }
        }
        for _ in 0..self.encoding.pause() {
            self.push(&[0]);
        }
        self.spi.write(&self.bytes)?;
        self.spi.flush()
    }

    fn push(&mut self, bytes: &[u8]) {
        // There is room: the buffer has that of the longer encoding.
        let _ = self.bytes.extend_from_slice(bytes);
    }
}

impl Supply {
    /// The brightness of a frame, from 0 to 255, at which it takes no more than there is.
    pub fn dim(&self, frame: &Frame) -> u8 {
        let spare = self.milliamps.saturating_mul(1_000).saturating_sub(LAMPS * IDLE);
        let full = colors(frame);
        // `full` is at most 64 × 3 × 255 × 20,000 / 255 µA: 3.84 A.
        let affordable = (u64::from(spare) * 255).checked_div(u64::from(full)).unwrap_or(255);
        u8::try_from(affordable).unwrap_or(255).min(self.brightness)
    }
}

/// Milliamperes of all lamps with a frame at a brightness, rounded up.
pub fn milliamps(frame: &Frame, brightness: u8) -> u32 {
    let lit = u64::from(colors(frame)) * u64::from(brightness) / 255;
    let micro = u64::from(LAMPS * IDLE) + lit;
    u32::try_from(micro.div_ceil(1_000)).unwrap_or(u32::MAX)
}

/// Microamperes of the colors of a frame at full brightness, without what dark lamps take.
fn colors(frame: &Frame) -> u32 {
    let of = |colour: Colour| colour.rgb().map(u32::from).into_iter().sum::<u32>() * COLOR / 255;
    frame.iter().map(|(_, colour)| of(colour)).sum()
}

/// A color at a brightness, rounded down: never more than was reckoned with.
fn scale(color: u8, brightness: u8) -> u8 {
    (u16::from(color) * u16::from(brightness) / 255).to_le_bytes()[0]
}
