//! The subcommands, one file each: its arguments, and what it does with them.
pub mod analyse;
pub mod device;
pub mod eval;
pub mod experiment;
pub mod fit;
pub mod judge;
pub mod label;
pub mod pack;
pub mod plot;
pub mod quantize;
pub mod report;
pub mod stats;
pub mod train;
