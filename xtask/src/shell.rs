//! Running other programs, and telling the reader where we are.
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Prints the command, runs it on our terminal, and fails if it fails.
pub fn run(command: &mut Command) -> Result<()> {
    println!("$ {}", text(command));
    let status = command.status().with_context(|| format!("cannot start {}", text(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", text(command));
    }
    Ok(())
}

/// Runs the command quietly and returns what it printed on its standard output.
pub fn output(command: &mut Command) -> Result<String> {
    let out = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {}", text(command)))?;
    if !out.status.success() {
        bail!("{} ended with {}", text(command), out.status);
    }
    String::from_utf8(out.stdout).with_context(|| format!("{} printed no UTF-8", text(command)))
}

/// Runs the command, and kills it if it takes longer than `limit`.
pub fn run_within(command: &mut Command, limit: Duration) -> Result<ExitStatus> {
    let mut child = command.spawn().with_context(|| format!("cannot start {}", text(command)))?;
    match wait_within(&mut child, limit)? {
        Some(status) => Ok(status),
        None => bail!("{} took longer than {} s", text(command), limit.as_secs()),
    }
}

fn wait_within(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// The command as one would type it, with the variables it adds.
pub fn text(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        Some(format!("{}={}", name.to_string_lossy(), value?.to_string_lossy()))
    });
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| quoted(&word.to_string_lossy()));
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    match word.is_empty() || word.contains([' ', '"', '$', '*']) {
        true => format!("'{word}'"),
        false => word.to_owned(),
    }
}

/// The program's path, if `PATH` leads to it.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask/ lies in the root")
}

/// Where cargo puts what it builds of the workspace.
pub fn target_dir() -> Result<PathBuf> {
    let metadata = output(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    let folder = metadata["target_directory"].as_str().context("cargo metadata without target")?;
    Ok(folder.into())
}

/// The cargo that runs us, to be called in the root.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Numbered steps with the time since the first.
pub struct Steps {
    start: Instant,
    done: usize,
    total: usize,
}

impl Steps {
    /// A road of `total` steps.
    pub fn new(total: usize) -> Self {
        Self { start: Instant::now(), done: 0, total }
    }

    /// Announces the next step.
    pub fn next(&mut self, what: &str) {
        self.done += 1;
        println!("\n== [{}/{}, {}] {what}", self.done, self.total, self.elapsed());
    }

    /// Minutes and seconds since the start.
    pub fn elapsed(&self) -> String {
        let seconds = self.start.elapsed().as_secs();
        format!("{}:{:02}", seconds / 60, seconds % 60)
    }
}
