//! What this machine has: packages, drivers, rights to install.
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::shell;

/// Whether Debian's package manager is here and we may use it.
pub enum Installer {
    /// `apt-get` as root.
    Apt,
    /// `apt-get` is here, but we are not root.
    AptForRootOnly,
    /// Another system.
    None,
}

impl Installer {
    /// Looks for `apt-get` and at the user id.
    pub fn find() -> Self {
        match (shell::find_program("apt-get"), is_root()) {
            (Some(_), true) => Self::Apt,
            (Some(_), false) => Self::AptForRootOnly,
            (None, _) => Self::None,
        }
    }

    /// Installs Debian packages, or fails with the command that would.
    pub fn install(&self, packages: &[&str]) -> Result<()> {
        match self {
            Self::Apt => {
                apt_install(packages).with_context(|| format!("try: {}", by_hand(packages, "")))
            }
            Self::AptForRootOnly => bail!("run: {}", by_hand(packages, "sudo ")),
            Self::None => bail!(
                "install what Debian calls {} with your system's package manager",
                packages.join(", ")
            ),
        }
    }
}

fn by_hand(packages: &[&str], sudo: &str) -> String {
    format!("{sudo}apt-get update && {sudo}apt-get install -y {}", packages.join(" "))
}

fn is_root() -> bool {
    shell::output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

/// Package lists may be missing (a fresh container) or stale; either shows as a failed first try.
fn apt_install(packages: &[&str]) -> Result<()> {
    let install = || shell::run(apt_get().args(["install", "-y"]).args(packages));
    if has_package_lists() && install().is_ok() {
        return Ok(());
    }
    shell::run(apt_get().arg("update"))?;
    install()
}

fn has_package_lists() -> bool {
    let lists = std::fs::read_dir("/var/lib/apt/lists");
    lists.is_ok_and(|mut files| {
        files.any(|file| {
            file.is_ok_and(|file| file.file_name().to_string_lossy().contains("_Packages"))
        })
    })
}

/// `apt-get` that asks nothing and gives up on a mirror that hangs.
fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command.args(["-q", "--no-install-recommends"]);
    for setting in ["Acquire::http::Timeout=30", "Acquire::Retries=2", "DPkg::Lock::Timeout=120"] {
        command.args(["-o", setting]);
    }
    // A machine that only runs tests may lose a package that is in the way, such as newer tools
    // of QEMU from another release; a person's may not.
    if std::env::var_os("CI").is_none_or(|ci| ci != "true") {
        command.arg("--no-remove");
    }
    command
}

/// Whether a Vulkan loader and Mesa's software driver are installed: the tests run the shaders
/// on it, so that a graphics card's driver does not do.
pub fn has_vulkan() -> bool {
    let loaders =
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib", "/usr/lib64"];
    let drivers = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"];
    let is_software = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.is_ok_and(|e| e.file_name().to_string_lossy().starts_with("lvp_icd"))
    };
    loaders.iter().any(|folder| Path::new(folder).join("libvulkan.so.1").exists())
        && drivers
            .iter()
            .any(|folder| std::fs::read_dir(folder).is_ok_and(|mut files| files.any(is_software)))
}
