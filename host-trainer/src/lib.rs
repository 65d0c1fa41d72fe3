//! The trainer: fits Viveka's weights, trains the Kibitzer network, quantizes it, and judges both.
//!
//! The only crate that touches files, processes and clocks.
//!
//! - [`cli`]: the command line; [`commands`] holds one file a subcommand.
//! - [`pgn`], [`records`], [`batches`]: games to training records to batches; [`examples`] is what
//!   these and other sources of training data have in common. [`positions`]: when two are the
//!   same; [`spelling`]: moves as they are written; [`chess960`]: positions of that game told from
//!   those of chess; [`shard`]: a part of the work.
//! - [`model`], [`checkpoint`], [`network`], [`device`]: a network in its files and at work.
//! - [`library`], [`fit`], [`judge`], [`engine`]: labelled positions, Viveka's weights fitted to them, and
//!   how well choices do on them; [`report`] writes all of it up. [`labels`] are the same
//!   positions as targets for the network.
//! - [`label`]: positions labelled by engines at work; [`epd`], [`kinds`]: positions a line, and
//!   what a file holds.
//! - [`order`]: which example is learned when.
//! - [`train`], [`evaluation`], [`plot`]: learning, measuring what was learned, drawing how it went.
//! - [`stats`]: what is in a file; [`bands`]: positions by phase and by how the game stands.
//! - [`suite`]: moves to find, and how many are found.
//! - [`quantize`]: a network as a model file of integers.
//! - [`tuning`]: the shapes of a GPU's matrix products, timed once and kept.
//! - [`error`], [`files`], [`progress`]: one line for every mistake of the user, outputs that
//!   appear whole or not at all, and what is shown on standard error.
pub mod bands;
pub mod batches;
pub mod checkpoint;
pub mod chess960;
pub mod cli;
pub mod commands;
pub mod device;
pub mod engine;
pub mod epd;
pub mod error;
pub mod evaluation;
pub mod examples;
pub mod files;
pub mod fit;
mod host_memory;
pub mod judge;
pub mod kinds;
pub mod label;
pub mod labels;
pub mod library;
pub mod model;
pub mod network;
pub mod order;
pub mod pgn;
pub mod plot;
pub mod positions;
pub mod progress;
pub mod quantize;
pub mod records;
pub mod report;
pub mod shard;
pub mod spelling;
pub mod stats;
pub mod suite;
pub mod train;
pub mod tuning;
