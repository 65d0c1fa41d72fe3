//! Developer commands, run as `cargo xtask …`.

mod board;
mod boards;
mod chips;
mod demo;
mod elf;
mod emulator;
mod everywhere;
mod firmware;
mod host;
mod inference;
mod kernels;
mod logging;
mod machine;
mod proof;
mod setup;
mod shaders;
mod shell;
mod test;
mod toolchain;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Developer commands of Kibitzer")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install what the other commands need, or say how
    Setup,
    /// The whole road on fixtures/: fit, train, quantize, run the board's firmware, compare
    Demo,
    /// Every check: format, lints, tests, the firmware against the host
    Test,
    /// Build the firmware, run it under QEMU and compare its answers with the host's
    Firmware,
    /// A whole chessboard in the terminal, its firmware under QEMU: `--help` tells the rest
    #[command(disable_help_flag = true)]
    Board {
        /// Handed to the simulator
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// The board's program for real chips: built, rehearsed on an emulated board, held to its budgets
    Chips,
    /// The network's inner loops on emulated boards: their sums against the host's, their cost
    Kernels,
    /// The network's answers on every kind of chip against the host's
    Everywhere,
    /// The network alone on emulated boards: flash, RAM, stack, instructions by preset and core
    Inference,
    /// Link the program that links only if nothing in the core can panic
    Proof,
    /// The GPU backend's suite on another Vulkan driver, or under Vulkan's validation layer
    Shaders(shaders::Options),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Setup => setup::command(),
        Command::Demo => demo::command(),
        Command::Test => test::command(),
        Command::Firmware => firmware::command(),
        Command::Board { arguments } => board::command(&arguments),
        Command::Chips => chips::command(),
        Command::Kernels => kernels::command(),
        Command::Everywhere => everywhere::command(),
        Command::Inference => inference::command(),
        Command::Proof => proof::command(),
        Command::Shaders(options) => shaders::command(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
