//! The host's programs, built and called, and what they say beside a board.
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::shell;

/// Builds an example of the core, optimised in full.
pub fn build_example(name: &str) -> Result<PathBuf> {
    let mut build = shell::cargo();
    build.args(["build", "--locked", "--release", "--package", "kibitzer-core"]);
    shell::run(build.args(["--example", name]))?;
    example("release", name)
}

fn example(profile: &str, name: &str) -> Result<PathBuf> {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    Ok(shell::target_dir()?.join(profile).join("examples").join(name))
}

/// Writes a preset's network of random integers, with weights of so many bits, by the core's example
/// `untrained`.
pub fn write_untrained(untrained: &Path, preset: &str, bits: &str) -> Result<PathBuf> {
    let folder = shell::target_dir()?.join("board");
    fs::create_dir_all(&folder)?;
    let net = folder.join(preset).with_extension("kbz");
    let out = Command::new(untrained).args([preset, bits]).output()?;
    ensure!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    fs::write(&net, &out.stdout)?;
    Ok(net)
}

/// The first line that differs, counted from 0, as a board with this core and as the host has it.
pub fn first_difference(core: &str, board: &str, host: &str) -> Option<(usize, String)> {
    let (mut board, mut host) = (board.lines(), host.lines());
    for line in 0.. {
        match (board.next(), host.next()) {
            (None, None) => break,
            (a, b) if a == b => {}
            (a, b) => {
                let [a, b] = [a, b].map(|line| line.unwrap_or("(ended)"));
                return Some((line, format!("{a} ({core}), {b} (host)")));
            }
        }
    }
    None
}

/// A built `kibitzer`.
pub struct Host {
    program: PathBuf,
}

impl Host {
    /// Builds it, optimised in full or as the tests are.
    pub fn build(release: bool) -> Result<Self> {
        let mut build = shell::cargo();
        if release {
            let package = ["--package", "kibitzer-trainer", "--bin", "kibitzer"];
            build.args(["build", "--locked", "--release"]).args(package);
        } else {
            // Built together with the tests: alone, its dependencies would have fewer features,
            // and all of wgpu would be compiled twice.
            build.args(["test", "--workspace", "--locked", "--no-run"]);
        }
        shell::run(&mut build)?;
        let profile = if release { "release" } else { "debug" };
        let name = format!("kibitzer{}", std::env::consts::EXE_SUFFIX);
        Ok(Self { program: shell::target_dir()?.join(profile).join(name) })
    }

    /// An example that was built together with the tests.
    pub fn example(name: &str) -> Result<PathBuf> {
        example("debug", name)
    }

    /// A command of `kibitzer`, to be run in the root.
    pub fn kibitzer(&self, subcommand: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(shell::root()).arg(subcommand);
        command
    }

    /// The board's answers, as the host gives them.
    pub fn analyse_board(&self, positions: &Path, net: &Path) -> Result<Vec<u8>> {
        let mut command = self.kibitzer("analyse");
        command.args(["--board", "--model"]).arg(net);
        println!("$ {} < {}", shell::text(&command), positions.display());
        let out = command
            .stdin(File::open(positions).with_context(|| positions.display().to_string())?)
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| format!("cannot start {}", self.program.display()))?;
        if !out.status.success() {
            bail!("{} ended with {}", shell::text(&command), out.status);
        }
        let folder = shell::target_dir()?.join("board");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("host.txt"), &out.stdout)?;
        Ok(out.stdout)
    }
}
