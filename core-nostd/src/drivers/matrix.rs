//! 64 contacts (reed switches, Hall sensors with an open drain) as eight rows and eight columns.
//!
//! One row at a time is pulled low, the others are high; a column reads low where its contact in that
//! row is closed. Columns have pull-up resistors. Each contact needs a diode, or else three pieces on
//! corners of a rectangle show a fourth on the last. Contact 0 is the first column of the first row,
//! contact 8 the first of the second.
use embedded_hal::{
    delay::DelayNs,
    digital::{InputPin, OutputPin},
};
use shakmaty::Bitboard;

use super::Wiring;

/// A pin that did not obey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatrixError<R, C> {
    /// The pin of a row, from 0.
    Row(u8, R),
    /// The pin of a column, from 0.
    Column(u8, C),
}

/// The contacts.
#[derive(Debug)]
pub struct Matrix<R, C, D> {
    rows: [R; 8],
    columns: [C; 8],
    delay: D,
    /// Nanoseconds from a row's change until the columns are read.
    settle: u32,
    wiring: Wiring,
}

impl<R: OutputPin, C: InputPin, D: DelayNs> Matrix<R, C, D> {
    /// Rows, columns, and nanoseconds for which a row settles before its columns are read: some 5,000
    /// for reed switches on wires of a board's length with pull-ups of 10 kΩ.
    pub fn new(rows: [R; 8], columns: [C; 8], delay: D, settle: u32, wiring: Wiring) -> Self {
        Matrix { rows, columns, delay, settle, wiring }
    }

    /// The pins and the timer, given back.
    pub fn release(self) -> ([R; 8], [C; 8], D) {
        (self.rows, self.columns, self.delay)
    }

    /// The occupied squares. Takes eight times the settling.
    ///
    /// # Errors
    /// The first pin that did not obey. No row is left low, as far as pins obey.
    pub fn scan(&mut self) -> Result<Bitboard, MatrixError<R::Error, C::Error>> {
        let mut contacts = 0u64;
        for (number, row) in (0u8..).zip(&mut self.rows) {
            let closed = match row.set_low() {
                Ok(()) => {
                    self.delay.delay_ns(self.settle);
                    read(&mut self.columns)
                }
                Err(error) => Err(MatrixError::Row(number, error)),
            };
            let high = row.set_high().map_err(|error| MatrixError::Row(number, error));
            contacts |= closed.and_then(|closed| high.map(|()| u64::from(closed)))? << (8 * number);
        }
        Ok(self.wiring.occupied(contacts))
    }
}

/// The closed contacts of the row that is low, the first column's being bit 0.
fn read<C: InputPin, R>(columns: &mut [C; 8]) -> Result<u8, MatrixError<R, C::Error>> {
    let mut closed = 0;
    for (number, column) in (0u8..).zip(columns) {
        let is_low = column.is_low().map_err(|error| MatrixError::Column(number, error))?;
        closed |= u8::from(is_low) << number;
    }
    Ok(closed)
}
