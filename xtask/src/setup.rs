//! What the commands need beyond Rust's stable toolchain, and how to get it.
use std::process::Command;

use anyhow::{Result, bail};

use crate::boards;
use crate::machine::{Installer, has_vulkan};
use crate::shell;
use crate::toolchain::Toolchain;

/// Emulators and the Debian packages that they are in.
const EMULATORS: [(&str, &str); 2] =
    [(boards::ARM, "qemu-system-arm"), (boards::RISCV, "qemu-system-misc")];

/// What a command may count on, and what it must leave out.
pub struct Setup {
    /// A way to build the firmware.
    pub toolchain: Option<Toolchain>,
    /// Whether QEMU for Arm is here.
    pub emulator: bool,
    /// Whether the shaders can run, in software if need be.
    pub vulkan: bool,
    missing: Vec<String>,
}

impl Setup {
    /// Installs what is absent where it may, and notes the rest with the commands to run by hand.
    pub fn prepare() -> Self {
        let installer = Installer::find();
        let mut missing = Vec::new();
        // One failing must not keep the others out.
        for packages in missing_packages() {
            if let Err(error) = installer.install(&packages) {
                missing.push(format!("{}: {error:#}", packages.join(", ")));
            }
        }
        let toolchain = Toolchain::find_or_install(&installer)
            .map_err(|error| missing.push(format!("a firmware compiler: {error:#}")))
            .ok();
        for target in toolchain.iter().flat_map(Toolchain::add_more) {
            missing.push(format!("a compiler for {target}: run rustup target add {target}"));
        }
        missing.iter().for_each(|line| println!("missing: {line}"));
        let emulator = boards::M4.find_emulator().is_some();
        Self { toolchain, emulator, vulkan: has_vulkan(), missing }
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
            println!("skipped what needs {line}");
        }
    }
}

/// `cargo xtask setup`
pub fn command() -> Result<()> {
    Setup::components()?;
    let setup = Setup::prepare();
    setup.print_missing();
    if !setup.missing.is_empty() {
        bail!("not everything could be installed");
    }
    println!("everything is here: firmware compilers, QEMU, Vulkan");
    Ok(())
}

/// Debian's names of what is absent, what belongs together in one list.
fn missing_packages() -> Vec<Vec<&'static str>> {
    let emulators = EMULATORS.iter().filter(|(program, _)| shell::find_program(program).is_none());
    let mut packages: Vec<_> = emulators.map(|&(_, package)| vec![package]).collect();
    // A driver in software (Mesa's llvmpipe) serves where there is no GPU. Metal and DirectX
    // come with their systems.
    if cfg!(target_os = "linux") && !has_vulkan() {
        packages.push(vec!["mesa-vulkan-drivers", "libvulkan1"]);
    }
    packages
}
