//! The network's answers on every kind of chip, compared with the host's.
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, ScopedJoinHandle};

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::boards::{BOARDS, Board};
use crate::emulator::{self, Conversation};
use crate::host::{self, first_difference};
use crate::setup::Setup;
use crate::shell;
use crate::toolchain::Toolchain;

/// Where the positions come from; lines that start with `#` are none.
const POSITIONS: [&str; 3] =
    ["fixtures/positions.fen", "fixtures/crowded.fen", "fixtures/explained.fen"];
/// Fewer would show too little.
const FEWEST_POSITIONS: usize = 300;

/// Bytes of stack that an inference may take beyond its scratch, the answer included.
const STACK_BUDGET: u64 = 14 * 1024;

/// `cargo xtask everywhere`
pub fn command() -> Result<()> {
    let setup = Setup::prepare();
    let host = host::build_example("digest")?;
    let mut skipped = false;
    for net in ["fixtures/demo.kbz", "fixtures/m4.kbz"] {
        println!("{net}");
        let outcomes = compare(&setup, &host, &shell::root().join(net))?;
        outcomes.iter().for_each(|outcome| println!("{outcome}"));
        skipped |= outcomes.iter().any(Outcome::is_skipped);
    }
    if skipped {
        setup.print_missing();
        bail!("not every chip was compared");
    }
    Ok(())
}

/// What became of a board.
pub enum Outcome {
    /// It answered as the host.
    Equal(String),
    /// It was left out, and why.
    Skipped(String),
}

impl Outcome {
    /// Whether it was left out.
    pub fn is_skipped(&self) -> bool {
        matches!(self, Self::Skipped(_))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal(line) => f.write_str(line),
            Self::Skipped(why) => write!(f, "skipped {why}"),
        }
    }
}

/// Asks the network at `net` about each position on every board that can be built for and
/// emulated, and `host`, the core's example `digest`; fails on the first difference.
pub fn compare(setup: &Setup, host: &Path, net: &Path) -> Result<Vec<Outcome>> {
    let positions = positions()?;
    let expected = &host_digests(host, net, &positions)?;
    let positions = positions.as_bytes();
    // The emulators run while the compiler makes the next image.
    thread::scope(|scope| {
        let mut boards = Vec::new();
        for board in &BOARDS {
            let image = match usable(setup, board) {
                Ok(toolchain) => build(&toolchain, board, net).map(Ok)?,
                Err(why) => Err(why),
            };
            boards.push(
                image.map(|image| scope.spawn(move || ask(board, &image, positions, expected))),
            );
        }
        boards.into_iter().map(outcome).collect()
    })
}

fn outcome(board: Result<ScopedJoinHandle<'_, Result<String>>, String>) -> Result<Outcome> {
    match board {
        Ok(asking) => {
            let line = asking.join().map_err(|_| anyhow!("a board's thread panicked"))?;
            Ok(Outcome::Equal(line?))
        }
        Err(why) => Ok(Outcome::Skipped(why)),
    }
}

/// A way to build for a board that can be emulated, or why there is none.
fn usable(setup: &Setup, board: &Board) -> Result<Toolchain, String> {
    let Board { core, target, emulator, .. } = board;
    if board.find_emulator().is_none() {
        return Err(format!("{core}: {emulator} is not installed; run cargo xtask setup"));
    }
    let toolchain = setup.toolchain.as_ref().and_then(|toolchain| toolchain.reaching(target));
    toolchain
        .ok_or_else(|| format!("{core}: no compiler for {target}; run rustup target add {target}"))
}

/// The firmware that answers with digests, around the network at `net`: a copy of the image, because
/// that of another board with this target takes its place.
fn build(toolchain: &Toolchain, board: &Board, net: &Path) -> Result<PathBuf> {
    let image = toolchain.image("release", board.target, "digest", |build| {
        build.args(["--features", board.features]).env("KIBITZER_NET", net);
    })?;
    let folder = shell::target_dir()?.join("board").join(board.machine);
    fs::create_dir_all(&folder)?;
    let copy = folder.join("digest");
    fs::copy(&image, &copy).with_context(|| copy.display().to_string())?;
    Ok(copy)
}

fn ask(board: &Board, image: &Path, positions: &[u8], expected: &str) -> Result<String> {
    let Conversation { answers, diagnostics } = emulator::ask(board, image, positions)?;
    let (answers, stack) = split_stack(&answers, &diagnostics)
        .with_context(|| format!("{} told no stack", board.core))?;
    require_equal(board.core, &answers, expected)?;
    let count = expected.lines().count();
    let stack = within_budget(board.core, stack)?;
    Ok(format!(
        "{:<17} {:<10} {count} of {count} positions as on the host; stack {stack} bytes of {STACK_BUDGET}",
        board.core, board.machine
    ))
}

/// The answers, and the bytes of the deepest stack beyond the scratch, which a board with one UART
/// tells after them.
fn split_stack(answers: &str, diagnostics: &str) -> Option<(String, u64)> {
    let (stack, answers): (Vec<&str>, Vec<&str>) =
        answers.lines().chain(diagnostics.lines()).partition(|line| line.starts_with("stack "));
    let bytes = stack.first()?.strip_prefix("stack ")?.trim().parse().ok()?;
    Some((answers.join("\n"), bytes))
}

/// The bytes of the stack, which must not exceed its budget.
fn within_budget(core: &str, bytes: u64) -> Result<u64> {
    ensure!(bytes <= STACK_BUDGET, "{core}: {bytes} bytes of stack, {STACK_BUDGET} are allowed");
    Ok(bytes)
}

/// Fails with the first line that differs.
fn require_equal(core: &str, board: &str, host: &str) -> Result<()> {
    match first_difference(core, board, host) {
        None => Ok(()),
        Some((line, both)) => bail!("position {} differs: {both}", line + 1),
    }
}

/// The host's digests, a line a position.
fn host_digests(host: &Path, net: &Path, positions: &str) -> Result<String> {
    let folder = shell::target_dir()?.join("board");
    fs::create_dir_all(&folder)?;
    let input = folder.join("positions.fen");
    fs::write(&input, positions)?;
    let digests = shell::output(Command::new(host).arg(net).stdin(File::open(&input)?))?;
    let (asked, told) = (positions.lines().count(), digests.lines());
    let answered = told.filter(|line| line.starts_with("digest ")).count();
    ensure!(answered == asked, "the host answers {answered} of {asked} positions");
    Ok(digests)
}

/// The positions, one a line.
fn positions() -> Result<String> {
    let mut all = String::new();
    for file in POSITIONS {
        let path = shell::root().join(file);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let positions = text.lines().filter(|line| !line.starts_with('#'));
        positions.for_each(|position| all.extend([position, "\n"]));
    }
    let count = all.lines().count();
    ensure!(count >= FEWEST_POSITIONS, "{count} positions, {FEWEST_POSITIONS} are the fewest");
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_told() {
        require_equal("M4", "digest 1\r\ndigest 2\r\n", "digest 1\ndigest 2\n").expect("equal");
        let error = |board, host| require_equal("M4", board, host).expect_err("differ").to_string();
        assert!(error("a\nb\n", "a\nc\n").contains("position 2 differs: b (M4), c (host)"));
        assert!(error("a\n", "a\nc\n").contains("(ended) (M4)"));
        assert!(error("a\nc\n", "a\n").contains("(ended) (host)"));
    }

    #[test]
    fn the_stack_is_read_and_held_to_its_budget() {
        let answers = Some(("digest 1\ndigest 2".to_owned(), 4711));
        assert_eq!(split_stack("digest 1\r\ndigest 2\r\n", "stack 4711\r\n"), answers);
        assert_eq!(split_stack("digest 1\ndigest 2\nstack 4711\n", ""), answers);
        assert_eq!(split_stack("digest 1\n", ""), None);
        assert_eq!(within_budget("M4", STACK_BUDGET).expect("within"), 14_336);
        let error = within_budget("M4", STACK_BUDGET + 1).expect_err("exceeded");
        assert!(error.to_string().contains("M4: 14337 bytes"), "{error}");
    }

    #[test]
    fn positions_are_enough_and_without_comments() {
        let positions = positions().expect("committed");
        assert!(positions.lines().all(|line| line.contains('/') && !line.contains('#')));
    }
}
