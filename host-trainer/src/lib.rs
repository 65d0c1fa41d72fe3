//! The trainer: fits Viveka's weights, trains the Kibitzer network, quantizes it, and judges both.
//!
//! The only crate that touches files, processes and clocks.
//!
//! - [`cli`]: the command line; [`commands`] holds one file a subcommand.
//! - [`error`], [`files`], [`progress`]: one line for every mistake of the user, outputs that
//!   appear whole or not at all, and what is shown on standard error.
pub mod cli;
pub mod commands;
pub mod error;
pub mod files;
pub mod pgn;
pub mod progress;
pub mod records;
