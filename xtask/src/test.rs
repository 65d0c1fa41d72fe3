//! `cargo xtask test`: every check there is.
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::board;
use crate::chips;
use crate::everywhere;
use crate::firmware;
use crate::host::Host;
use crate::inference::{self, Examples};
use crate::kernels;
use crate::logging;
use crate::proof;
use crate::setup::Setup;
use crate::shell::{self, Steps};
use crate::toolchain::Toolchain;

/// Fails at the first check that fails; what could not be checked is listed at the end.
pub fn command() -> Result<()> {
    let mut steps = Steps::new(5);
    steps.next("set up");
    Setup::components()?;
    let setup = Setup::prepare();

    steps.next("format");
    shell::run(shell::cargo().args(["fmt", "--all", "--check"]))?;
    let firmware_folder = shell::root().join("firmware-demo");
    shell::run(shell::cargo().current_dir(firmware_folder).args(["fmt", "--check"]))?;

    steps.next("lints");
    let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    shell::run(shell::cargo().args(clippy))?;
    for mut clippy in setup.toolchain.iter().flat_map(Toolchain::clippy) {
        shell::run(&mut clippy)?;
    }

    steps.next("the firmware against the host");
    let host = Host::build(false)?;
    let net = shell::root().join("fixtures/demo.kbz");
    if let Some(report) = firmware::compare(&setup, &host, &net)? {
        report.lines().iter().for_each(|line| println!("{line}"));
    }
    let lines = chips::check(&setup)?;
    lines.iter().flatten().for_each(|line| println!("{line}"));
    logging::check(&setup)?.iter().flatten().for_each(|line| println!("{line}"));
    proof::link(&setup)?.iter().flatten().for_each(|line| println!("{line}"));
    let lines = kernels::compare(&setup, &Host::example("kernels")?)?;
    lines.iter().flatten().for_each(|line| println!("{line}"));
    let [untrained, inference] = ["untrained", "inference"].map(Host::example);
    let examples = Examples { untrained: untrained?, inference: inference? };
    let lines = firmware::compare_larger(&setup, &host, &examples.untrained)?;
    lines.iter().for_each(|line| println!("{line}"));
    let lines = inference::check(&setup, &examples)?;
    lines.iter().flatten().for_each(|line| println!("{line}"));
    let boards = everywhere::compare(&setup, &Host::example("digest")?, &net)?;
    boards.iter().for_each(|board| println!("{board}"));

    steps.next("tests");
    let image = match &setup.toolchain {
        Some(toolchain) if setup.emulator => Some(board::image(toolchain)?),
        _ => None,
    };
    let tally = cargo_test(setup.vulkan, image.as_deref())?;
    println!("\nall checks passed in {}: {tally}", steps.elapsed());
    boards.iter().filter(|board| board.is_skipped()).for_each(|board| println!("{board}"));
    setup.print_missing();
    Ok(())
}

/// Runs the workspace's tests, passing their output on, and sums up the runners' closing lines.
fn cargo_test(vulkan: bool, board: Option<&Path>) -> Result<Tally> {
    let mut command = shell::cargo();
    command.args(["test", "--workspace", "--locked", "--no-fail-fast"]);
    // The same cases each time; without it the properties are tried on others.
    command.env("PROPTEST_RNG_SEED", "1");
    if vulkan {
        // Without it the tests of the shaders pass by where no adapter is found.
        command.env("KIBITZER_REQUIRE_ADAPTER", "1");
    }
    if let Some(image) = board {
        // Without it the tests of the emulated board pass by.
        command.env("KIBITZER_BOARD_IMAGE", image);
    }
    println!("$ {}", shell::text(&command));
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start cargo test")?;
    let mut tally = Tally::default();
    for line in BufReader::new(child.stdout.take().context("piped above")?).lines() {
        let line = line?;
        tally.read(&line);
        println!("{line}");
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("cargo test ended with {status}: {tally}");
    }
    Ok(tally)
}

/// Sum of the lines with which test runners close.
#[derive(Default, Debug, PartialEq)]
struct Tally {
    runners: usize,
    passed: usize,
    failed: usize,
    ignored: usize,
}

impl Tally {
    /// Counts a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; …`; others pass by.
    fn read(&mut self, line: &str) {
        let Some((_, counts)) = line.strip_prefix("test result: ").and_then(|l| l.split_once(". "))
        else {
            return;
        };
        self.runners += 1;
        for part in counts.split("; ") {
            match part.split_once(' ').map(|(count, what)| (count.parse::<usize>(), what)) {
                Some((Ok(count), "passed")) => self.passed += count,
                Some((Ok(count), "failed")) => self.failed += count,
                Some((Ok(count), "ignored")) => self.ignored += count,
                _ => {}
            }
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { runners, passed, failed, ignored } = self;
        write!(f, "{passed} tests passed, {failed} failed, {ignored} ignored, {runners} runners")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_summed() {
        let mut tally = Tally::default();
        tally.read("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.1s");
        tally.read("test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s");
        tally.read("test some::name ... ok");
        assert_eq!(tally, Tally { runners: 2, passed: 5, failed: 4, ignored: 1 });
    }
}
