//! What the boards' programs share: start, ports, timer, stack, the network in flash, and how
//! they end; and the loop of a whole chessboard.
#![no_std]

pub mod board_loop;
#[cfg(target_arch = "arm")]
pub mod chip;
#[cfg(target_arch = "arm")]
pub mod clock;
pub mod end;
pub mod line;
pub mod net;
pub mod saved;
#[cfg(board = "mps2")]
pub mod serial_flash;
pub mod stack;
#[cfg(not(feature = "chip"))]
pub mod uart;
#[cfg(board = "mps2")]
pub mod watchdog;

/// What marks a program's `main`.
#[cfg(target_arch = "arm")]
pub use cortex_m_rt::entry;
/// What marks a program's `main`.
#[cfg(target_arch = "riscv32")]
pub use riscv_rt::entry;
