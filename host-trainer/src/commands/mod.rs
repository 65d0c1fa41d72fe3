//! The subcommands, one file each: its arguments, and what it does with them.
pub mod eval;
pub mod pack;
pub mod train;
