//! The whole board on an emulated Cortex-M4, for whoever wants to sit at it.
use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::boards::M4;
use crate::elf::Image;
use crate::setup::Setup;
use crate::shell;
use crate::toolchain::Toolchain;

/// The board's program, and whoever sits at it.
const PROGRAM: &str = "board";
const SIMULATOR: &str = "kibitzer-simulator";

/// `cargo xtask board`: what follows is the simulator's.
pub fn command(arguments: &[String]) -> Result<()> {
    let setup = Setup::prepare();
    let (Some(toolchain), true) = (&setup.toolchain, setup.emulator) else {
        setup.print_missing();
        bail!("the board was not started");
    };
    let image = image(toolchain)?;
    let mut simulator = shell::cargo();
    simulator.args(["run", "--quiet", "--locked", "--package", SIMULATOR, "--"]);
    if let Some(emulator) = M4.find_emulator() {
        simulator.arg("--emulator").arg(emulator);
    }
    shell::run(simulator.arg("--image").arg(image).args(arguments))
}

/// Builds the board's program, which computes with no float and has no heap.
pub fn image(toolchain: &Toolchain) -> Result<PathBuf> {
    let path = toolchain.image("release", M4.target, PROGRAM, |build| {
        build.arg("--no-default-features");
    })?;
    Image::read(&path)?.require_integers_without_heap()?;
    Ok(path)
}
