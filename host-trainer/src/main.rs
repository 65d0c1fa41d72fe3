//! The `kibitzer` command line; everything it does is in the library.
use std::process::ExitCode;

fn main() -> ExitCode {
    kibitzer_trainer::cli::main(std::env::args_os())
}
