//! Chess evaluation that fits on a chessboard: `no_std`, no heap, integers only.
//!
//! - [`position`]: positions from FEN (rules by [`shakmaty`]).
//! - [`inputs`] and [`moves`]: what the network reads and the index of the moves it scores.
//! - [`net`]: the network as data, its file format and integer inference.
#![no_std]

pub mod exchange;
pub mod inputs;
pub mod moves;
pub mod net;
mod numeric;
pub mod position;
pub mod viveka;

pub use shakmaty;
