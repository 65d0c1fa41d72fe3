//! Chess evaluation that fits on a chessboard: `no_std`, no heap, integers only.
//!
//! - [`position`]: positions from FEN (rules by [`shakmaty`]).
//! - [`legal`]: the legal moves of a position.
//! - [`inputs`] and [`moves`]: what the network reads and the index of the moves it scores.
//! - [`exchange`]: material, and what a move keeps of it once all captures are played out.
//! - [`square_exchange`]: the exchange on one square, as it is counted at the board.
//! - [`exchange_line`]: the position at the end of those captures.
//! - [`viveka`]: the interpretable move chooser.
//! - [`game`]: a game's moves, and whether it is over.
//! - [`chessboard`]: a whole chessboard above its wires: contacts in, lamps out.
//! - [`coach`]: what a board tells its player of the moves.
//! - [`recognition`]: which move was made, from squares that are occupied or not.
//! - [`net`]: the network as data, its file format and integer inference.
//! - [`board`]: the answer of a chessboard, as lines of text.
//! - [`lamps`]: the lamps of a chessboard's squares.
//! - [`protocol`]: what a chessboard and an app say to each other.
//! - `drivers`, with the feature of that name: sensors, lamps and serial lines over embedded-hal.
//! - [`storage`]: a game in flash, which outlives the loss of power.
//! - [`guide`]: for whoever writes a chessboard's firmware.
#![no_std]

#[cfg(feature = "std")]
extern crate std;

pub mod board;
mod budget;
pub mod chessboard;
pub mod coach;
mod crc;
#[cfg(feature = "drivers")]
pub mod drivers;
pub mod exchange;
pub mod exchange_line;
mod fen;
pub mod fnv;
pub mod game;
#[doc = include_str!("guide.md")]
pub mod guide {}
pub mod inputs;
mod insertion;
pub mod lamps;
pub mod legal;
pub mod moves;
pub mod net;
mod numeric;
mod once;
mod per_square;
mod placement;
pub mod position;
pub mod protocol;
pub mod recognition;
mod scene;
pub mod square_exchange;
pub mod storage;
pub mod viveka;

pub use shakmaty;
