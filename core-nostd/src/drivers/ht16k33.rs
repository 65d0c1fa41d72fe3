//! 64 lamps as eight rows and eight columns on the driver HT16K33, on I²C.
//!
//! The chip has sixteen outputs in each of eight rows. With lamps of one color the first eight are the
//! columns; with lamps of red and green they are the green ones, the last eight the red ones. Lamp 0 is
//! the first column of the first row, lamp 8 the first of the second.
use embedded_hal::i2c::I2c;

use super::Wiring;
use crate::lamps::{Colour, Frame};

/// The address with no solder bridge closed; up to 0x77 with others.
pub const ADDRESS: u8 = 0x70;

const OSCILLATOR_ON: u8 = 0x21;
const DISPLAY_ON: u8 = 0x81;
const BRIGHTNESS: u8 = 0xe0;
/// Where the rows begin in the chip's memory.
const ROWS: u8 = 0x00;

/// The lamps and how they are connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Lamps {
    /// Of one color, the first column at the first output.
    Plain,
    /// Of one color on the small ready-made backpacks, whose first column is at the eighth output and
    /// whose second is at the first.
    Backpack,
    /// Red and green: both are yellow.
    TwoColors,
}

/// The driver.
#[derive(Debug)]
pub struct Ht16k33<B> {
    bus: B,
    address: u8,
    lamps: Lamps,
    wiring: Wiring,
}

impl<B: I2c> Ht16k33<B> {
    /// A chip at an address ([`ADDRESS`]), not yet switched on.
    pub fn new(bus: B, address: u8, lamps: Lamps, wiring: Wiring) -> Self {
        Ht16k33 { bus, address, lamps, wiring }
    }

    /// The bus, given back.
    pub fn release(self) -> B {
        self.bus
    }

    /// Switches the chip on, all lamps dark, at a brightness from 0 to 15.
    ///
    /// # Errors
    /// Those of the bus.
    pub fn init(&mut self, brightness: u8) -> Result<(), B::Error> {
        self.bus.write(self.address, &[OSCILLATOR_ON])?;
        // What the memory holds at first is chance.
        self.show(&Frame::DARK)?;
        self.brightness(brightness)?;
        self.bus.write(self.address, &[DISPLAY_ON])
    }

    /// Sets the brightness, from 0 to 15; more counts as 15.
    ///
    /// # Errors
    /// Those of the bus.
    pub fn brightness(&mut self, brightness: u8) -> Result<(), B::Error> {
        self.bus.write(self.address, &[BRIGHTNESS | brightness.min(15)])
    }

    /// Shows a frame.
    ///
    /// # Errors
    /// Those of the bus.
    pub fn show(&mut self, frame: &Frame) -> Result<(), B::Error> {
        let mut outputs = [[0u8; 2]; 8];
        for (row, squares) in outputs.iter_mut().zip(self.wiring.squares().chunks(8)) {
            for (column, &square) in (0u32..).zip(squares) {
                let bit = match self.lamps {
                    Lamps::Plain | Lamps::TwoColors => 1u8.rotate_left(column),
                    Lamps::Backpack => 1u8.rotate_left(column).rotate_right(1),
                };
                for (output, is_lit) in row.iter_mut().zip(self.lamps.lit(frame.get(square))) {
                    *output |= if is_lit { bit } else { 0 };
                }
            }
        }
        let mut message = [ROWS; 17];
        for (byte, output) in message.iter_mut().skip(1).zip(outputs.as_flattened()) {
            *byte = *output;
        }
        self.bus.write(self.address, &message)
    }
}

impl Lamps {
    /// Whether a colour lights the lamp at the first eight outputs, and at the last eight.
    fn lit(self, colour: Colour) -> [bool; 2] {
        match (self, colour) {
            (_, Colour::Off) => [false, false],
            (Lamps::Plain | Lamps::Backpack, _) => [true, false],
            (Lamps::TwoColors, Colour::Green) => [true, false],
            // The two grades of a move that gives something away look alike.
            (Lamps::TwoColors, Colour::Red | Colour::Orange) => [false, true],
            (Lamps::TwoColors, _) => [true, true],
        }
    }
}
