//! What the commands need beyond Rust's stable toolchain, and how to get it.
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::machine::{Installer, has_vulkan};
use crate::shell;
use crate::toolchain::Toolchain;

/// The emulator of the firmware's board.
const EMULATOR: &str = "qemu-system-arm";

/// What a command may count on, and what it must leave out.
pub struct Setup {
    /// A way to build the firmware.
    pub toolchain: Option<Toolchain>,
    /// QEMU for Arm.
    pub emulator: Option<PathBuf>,
    /// Whether the shaders can run, in software if need be.
    pub vulkan: bool,
    missing: Vec<String>,
}

impl Setup {
    /// Installs what is absent where it may, and notes the rest with the commands to run by hand.
    pub fn prepare() -> Self {
        let installer = Installer::find();
        let mut missing = Vec::new();
        let mut note = |what: &str, error: anyhow::Error| {
            println!("{what}: {error:#}");
            missing.push(format!("{what}: {error:#}"));
        };
        let emulator = emulator(&installer).map_err(|error| note("QEMU", error)).ok();
        let toolchain = Toolchain::find_or_install(&installer)
            .map_err(|error| note("firmware compiler", error))
            .ok();
        let vulkan = vulkan(&installer).map_err(|error| note("Vulkan", error)).is_ok();
        Self { toolchain, emulator, vulkan, missing }
    }

    /// Installs rustup's formatter and lints where a minimal toolchain lacks them.
    pub fn components() -> Result<()> {
        for (program, component) in [("cargo-fmt", "rustfmt"), ("cargo-clippy", "clippy")] {
            let works = Command::new(program).arg("--version").output();
            if !works.is_ok_and(|out| out.status.success()) {
                shell::run(Command::new("rustup").args(["component", "add", component]))?;
            }
        }
        Ok(())
    }

    /// Prints what was left out and why; nothing if all is here.
    pub fn print_missing(&self) {
        for line in &self.missing {
            println!("skipped for want of {line}");
        }
    }
}

/// `cargo xtask setup`
pub fn command() -> Result<()> {
    Setup::components()?;
    let setup = Setup::prepare();
    setup.print_missing();
    if !setup.missing.is_empty() {
        bail!("{} of 3 requirements are missing", setup.missing.len());
    }
    println!("everything is here: firmware compiler, QEMU, Vulkan");
    Ok(())
}

fn emulator(installer: &Installer) -> Result<PathBuf> {
    if let Some(found) = shell::find_program(EMULATOR) {
        return Ok(found);
    }
    installer.install(&[EMULATOR])?;
    shell::find_program(EMULATOR).context("installed, yet not in PATH")
}

/// A driver in software (Mesa's llvmpipe) serves where there is no GPU.
fn vulkan(installer: &Installer) -> Result<()> {
    // Metal and DirectX come with their systems.
    if !cfg!(target_os = "linux") || has_vulkan() {
        return Ok(());
    }
    installer.install(&["mesa-vulkan-drivers", "libvulkan1"])
}
