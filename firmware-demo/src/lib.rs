//! What the board's programs share: its ports, its timer, its stack, and how they end.
#![no_std]

pub mod clock;
pub mod end;
pub mod line;
pub mod stack;
pub mod uart;
