//! Where the firmware's `core` library comes from: rustup's, or Debian's source.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::boards::{M0, M4, M33, M55, RV32};
use crate::chips::{CHIPS, REHEARSAL};
use crate::logging::LOGGING;
use crate::machine::Installer;
use crate::shell;

/// What the firmware is built for, and cannot do without.
const TARGETS: [&str; 2] = [M4.target, M0.target];
/// What the network's answers are compared on besides.
const MORE_TARGETS: [&str; 2] = [M55.target, RV32.target];

/// Debian's compiler, its library's source and its lints.
const DEBIAN_PACKAGES: [&str; 3] = ["rustc-web", "rust-web-src", "rust-web-clippy"];
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CLIPPY: &str = "/usr/bin/clippy-driver";

/// A download that hangs must not hang us.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(120);

/// A way to build for [`TARGETS`]; others it may [reach](Toolchain::reaching).
pub enum Toolchain {
    /// The default compiler has the targets' libraries.
    Prebuilt,
    /// Debian's compiler builds `core` from source; `linker` is the default toolchain's.
    BuildStd {
        /// `rust-lld`, which Debian does not ship.
        linker: PathBuf,
    },
}

impl Toolchain {
    /// Finds a way, installing what it takes; the error says what to do by hand.
    pub fn find_or_install(installer: &Installer) -> Result<Self> {
        if let Some(found) = Self::find()? {
            return Ok(found);
        }
        if add_by_rustup(&TARGETS).is_ok() && has_prebuilt()? {
            return Ok(Self::Prebuilt);
        }
        let targets = TARGETS.join(" ");
        println!("rustup cannot add {targets}; building their core library from Debian's source");
        installer
            .install(&DEBIAN_PACKAGES)
            .with_context(|| format!("rustup target add {targets} failed; without it"))?;
        debian()?.context("rustc-web and rust-web-src are installed, yet unusable")
    }

    /// Finds a way without installing anything.
    pub fn find() -> Result<Option<Self>> {
        match has_prebuilt()? {
            true => Ok(Some(Self::Prebuilt)),
            false => debian(),
        }
    }

    /// This way, or Debian's compiler, whichever can build for `target`.
    pub fn reaching(&self, target: &str) -> Option<Self> {
        match self {
            Self::Prebuilt if has_core(target).unwrap_or(false) => Some(Self::Prebuilt),
            Self::Prebuilt => debian().ok().flatten(),
            Self::BuildStd { linker } => Some(Self::BuildStd { linker: linker.clone() }),
        }
    }

    /// Adds [`MORE_TARGETS`] where rustup can; returns those that stay out of reach.
    pub fn add_more(&self) -> Vec<&'static str> {
        for target in MORE_TARGETS {
            if self.reaching(target).is_none() {
                // What fails is seen below.
                let _ = add_by_rustup(&[target]);
            }
        }
        MORE_TARGETS.into_iter().filter(|target| self.reaching(target).is_none()).collect()
    }

    /// `cargo clippy` for each target, denying warnings; none where Debian's lints are absent.
    pub fn clippy(&self) -> impl Iterator<Item = Command> {
        let main = TARGETS.iter().filter_map(|target| self.clippy_for(target, &[]));
        let more = [&M33, &M55, &RV32].into_iter().filter_map(|board| {
            // The other programs need a timer of Arm's.
            let only = ["--lib", "--bin", "digest", "--features", board.features];
            self.reaching(board.target)?.clippy_for(board.target, &only)
        });
        main.chain(more).chain(self.clippy_of_chips())
    }

    /// The same for what no other board has.
    fn clippy_of_chips(&self) -> impl Iterator<Item = Command> {
        let more = [REHEARSAL, LOGGING].map(|name| (name, M4.target));
        let chips = CHIPS.iter().map(|chip| (chip.name, chip.board.target));
        chips.chain(more).filter_map(|(name, target)| {
            let only = ["--no-default-features", "--features", name, "--lib", "--bin", name];
            self.clippy_for(target, &only)
        })
    }

    fn clippy_for(&self, target: &str, what: &[&str]) -> Option<Command> {
        let mut command = match self {
            Self::Prebuilt => {
                let mut command = self.cargo("clippy", "release", target);
                command.args(what);
                command
            }
            Self::BuildStd { .. } if !Path::new(DEBIAN_CLIPPY).exists() => return None,
            // cargo clippy would call the other toolchain's driver, which cannot read this core.
            Self::BuildStd { .. } => {
                let mut command = self.cargo("check", "release", target);
                command.args(what);
                command.env("RUSTC_WORKSPACE_WRAPPER", DEBIAN_CLIPPY);
                command.env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
                return Some(command);
            }
        };
        command.args(["--", "-D", "warnings"]);
        Some(command)
    }

    /// Where this way's artifacts go. Two compilers in one folder would rebuild at each change.
    pub fn target_dir(&self) -> PathBuf {
        let name = match self {
            Self::Prebuilt => "firmware",
            Self::BuildStd { .. } => "firmware-build-std",
        };
        shell::root().join("target").join(name)
    }

    /// Builds a program of the firmware and returns the linked image; `with` adds to cargo's
    /// command.
    pub fn image(
        &self,
        profile: &str,
        target: &str,
        program: &str,
        with: impl FnOnce(&mut Command),
    ) -> Result<PathBuf> {
        let mut build = self.cargo("build", profile, target);
        build.args(["--bin", program]);
        with(&mut build);
        shell::run(&mut build)?;
        let image = self.target_dir().join(target).join(profile).join(program);
        ensure!(image.is_file(), "cargo left no image at {}", image.display());
        Ok(image)
    }

    /// A subcommand of cargo in the firmware's folder, with what this way adds.
    pub fn cargo(&self, subcommand: &str, profile: &str, target: &str) -> Command {
        let mut command = shell::cargo();
        // The folder's own .cargo/config.toml holds the linker script.
        command.current_dir(shell::root().join("firmware-demo"));
        command.args([subcommand, "--profile", profile, "--target", target, "--locked"]);
        command.arg("--target-dir").arg(self.target_dir());
        if let Self::BuildStd { linker } = self {
            command.arg("-Zbuild-std=core");
            command.env("RUSTC", DEBIAN_RUSTC).env("RUSTC_BOOTSTRAP", "1");
            let variable = target.to_uppercase().replace(['-', '.'], "_");
            command.env(format!("CARGO_TARGET_{variable}_LINKER"), linker);
        }
        command
    }
}

fn add_by_rustup(targets: &[&str]) -> Result<()> {
    let mut add = Command::new("rustup");
    add.args(["target", "add"]).args(targets);
    println!("$ {}", shell::text(&add));
    let status = shell::run_within(&mut add, DOWNLOAD_LIMIT)?;
    ensure!(status.success(), "rustup ended with {status}");
    Ok(())
}

fn has_prebuilt() -> Result<bool> {
    Ok(TARGETS.into_iter().map(has_core).collect::<Result<Vec<_>>>()?.into_iter().all(|has| has))
}

/// Whether the default compiler has the target's library. rustup removes the files of a target,
/// not always its folder.
fn has_core(target: &str) -> Result<bool> {
    let files = fs::read_dir(rustlib("rustc")?.join(target).join("lib"));
    Ok(files.is_ok_and(|files| {
        files.flatten().any(|file| file.file_name().to_string_lossy().starts_with("libcore-"))
    }))
}

/// Debian's compiler with its source beside it, and the linker it lacks.
fn debian() -> Result<Option<Toolchain>> {
    if !Path::new(DEBIAN_RUSTC).exists() || !is_new_enough(DEBIAN_RUSTC)? {
        return Ok(None);
    }
    if !rustlib(DEBIAN_RUSTC)?.join("src/rust/library/core/Cargo.toml").exists() {
        return Ok(None);
    }
    let linker = rustlib("rustc")?.join(host()?).join("bin/rust-lld");
    if !linker.exists() {
        bail!("no linker at {}: run rustup's toolchain, not the system's", linker.display());
    }
    Ok(Some(Toolchain::BuildStd { linker }))
}

fn rustlib(rustc: &str) -> Result<PathBuf> {
    let sysroot = shell::output(Command::new(rustc).args(["--print", "sysroot"]))?;
    Ok(Path::new(sysroot.trim()).join("lib/rustlib"))
}

fn host() -> Result<String> {
    Ok(shell::output(Command::new("rustc").args(["--print", "host-tuple"]))?.trim().to_owned())
}

/// Whether the compiler satisfies the workspace's `rust-version`.
fn is_new_enough(rustc: &str) -> Result<bool> {
    let wanted = minor(env!("CARGO_PKG_RUST_VERSION")).expect("the manifest has a version");
    let printed = shell::output(Command::new(rustc).arg("--version"))?;
    // "rustc 1.96.0 (…)"
    let version = printed.split_whitespace().nth(1).unwrap_or_default();
    Ok(minor(version).is_some_and(|have| have >= wanted))
}

fn minor(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}
