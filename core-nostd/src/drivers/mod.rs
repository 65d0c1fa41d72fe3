//! Sensors, lamps and serial lines of a board, over the traits of embedded-hal 1.0.
//!
//! - [`matrix`]: 64 contacts as eight rows and eight columns of pins.
//! - [`hc165`]: 64 contacts on a chain of eight shift registers 74HC165.
//! - [`ws2812`]: 64 lamps WS2812 in a row, on a bus of SPI.
//! - [`ht16k33`]: 64 lamps on the driver HT16K33, on I²C.
//! - [`uart`]: a serial line that never waits.
//!
//! Sensors give a [`Bitboard`](shakmaty::Bitboard) of occupied squares, as it is at that moment:
//! bounces and slides are for the recognition of moves to see through. Lamps show a
//! [`Frame`](crate::lamps::Frame). Which contact or lamp belongs to which square is a [`Wiring`].
//! A bus's error is handed on as it is.
pub mod hc165;
pub mod ht16k33;
pub mod matrix;
pub mod uart;
mod wiring;
pub mod ws2812;

pub use hc165::Hc165;
pub use ht16k33::Ht16k33;
pub use matrix::Matrix;
pub use uart::Uart;
pub use wiring::Wiring;
pub use ws2812::Ws2812;
