//! The board's firmware under QEMU, compared byte for byte with the host.
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::elf::{Image, Sizes};
use crate::host::Host;
use crate::setup::Setup;
use crate::shell;
use crate::toolchain::{TARGET, Toolchain};

/// SysTick runs at 25 MHz and QEMU's `-icount shift=0` at one instruction a nanosecond.
const INSTRUCTIONS_A_TICK: u64 = 40;

/// The emulator executes some hundred million instructions a second, the positions take 50
/// thousand million.
const EMULATION_LIMIT: Duration = Duration::from_secs(900);

/// RAM for data and stack that boards of this class spare for the evaluator, in bytes. Flash has
/// no limit here: what exceeds the memory map does not link.
const RAM_BUDGET: u64 = 96 * 1024;

/// Ends the conversation, as Ctrl-D does on a terminal.
const END_OF_TRANSMISSION: u8 = 4;

/// `cargo xtask firmware`
pub fn command() -> Result<()> {
    let setup = Setup::prepare();
    let host = Host::build(true)?;
    let net = shell::root().join("fixtures/demo.kbz");
    match compare(&setup, &host, &net)? {
        Some(report) => report.lines().iter().for_each(|line| println!("{line}")),
        None => {
            setup.print_missing();
            bail!("the firmware was not compared");
        }
    }
    Ok(())
}

/// What the comparison found, all positions being equal.
pub struct Report {
    positions: usize,
    bytes: usize,
    sizes: Sizes,
    stack: u64,
    instructions: Vec<u64>,
}

/// Builds the firmware with `net`, asks it and the host about the fixture positions, and fails on
/// the first differing byte. `None` where the compiler or the emulator is missing.
pub fn compare(setup: &Setup, host: &Host, net: &Path) -> Result<Option<Report>> {
    let (Some(toolchain), Some(emulator)) = (&setup.toolchain, &setup.emulator) else {
        return Ok(None);
    };
    let path = build(toolchain, net)?;
    let image = Image::read(&path)?;
    image.require_integers_without_heap()?;
    let sizes = image.sizes()?;
    let positions = shell::root().join("fixtures/positions.fen");
    let board = run_board(emulator, &path, &positions)?;
    let host = host.analyse_board(&positions, net)?;
    let count = fs::read_to_string(&positions)?.lines().count();
    require_equal(&board.answers, &host)?;
    ensure!(board.ticks.len() == count, "{} of {count} positions timed", board.ticks.len());
    let instructions = board.ticks.iter().map(|ticks| ticks * INSTRUCTIONS_A_TICK).collect();
    let ram = sizes.ram + board.stack;
    ensure!(ram <= RAM_BUDGET, "the firmware uses {ram} bytes of RAM, {RAM_BUDGET} are allowed");
    let bytes = board.answers.len();
    Ok(Some(Report { positions: count, bytes, sizes, stack: board.stack, instructions }))
}

/// Builds the firmware around the network at `net` and returns the linked image.
pub fn build(toolchain: &Toolchain, net: &Path) -> Result<PathBuf> {
    shell::run(toolchain.build().env("KIBITZER_NET", net))?;
    let image = toolchain.target_dir().join(TARGET).join("release/kibitzer-firmware");
    ensure!(image.is_file(), "cargo left no image at {}", image.display());
    Ok(image)
}

/// What the emulated board sent.
struct Board {
    /// UART0: the answers.
    answers: Vec<u8>,
    /// UART1: SysTick ticks of each answer, and the deepest stack.
    ticks: Vec<u64>,
    stack: u64,
}

fn run_board(emulator: &Path, image: &Path, positions: &Path) -> Result<Board> {
    // Plain files on both ends: nothing to deadlock on, and something to look at afterwards.
    let folder = shell::target_dir()?.join("board");
    fs::create_dir_all(&folder)?;
    let [input, answers, diagnostics] =
        ["input.fen", "answers.txt", "diagnostics.txt"].map(|name| folder.join(name));
    let mut lines = fs::read(positions).with_context(|| positions.display().to_string())?;
    lines.push(END_OF_TRANSMISSION);
    fs::write(&input, lines)?;

    let mut command = Command::new(emulator);
    command.args(["-machine", "mps2-an386", "-icount", "shift=0", "-display", "none"]);
    command.args(["-monitor", "none", "-serial", "stdio", "-serial"]);
    command.arg(format!("file:{}", diagnostics.display()));
    command.args(["-semihosting-config", "enable=on,target=native", "-kernel"]).arg(image);
    println!("$ {} < {} > {}", shell::text(&command), input.display(), answers.display());
    command.stdin(File::open(&input)?).stdout(File::create(&answers)?).stderr(Stdio::inherit());
    let status = shell::run_within(&mut command, EMULATION_LIMIT)?;
    let answers = fs::read(&answers)?;
    if !status.success() {
        bail!("the firmware ended with {status}, saying last: {}", last_line(&answers));
    }
    let (ticks, stack) = parse_diagnostics(&fs::read_to_string(&diagnostics)?)?;
    Ok(Board { answers, ticks, stack })
}

/// Lines `ticks N`, one an answer, and one `stack N` in bytes.
fn parse_diagnostics(text: &str) -> Result<(Vec<u64>, u64)> {
    let (mut ticks, mut stack) = (Vec::new(), None);
    for line in text.lines() {
        let wrong = || format!("a diagnostic line that is neither ticks nor stack: {line}");
        let (what, number) = line.split_once(' ').with_context(wrong)?;
        let number = number.trim().parse().with_context(wrong)?;
        match what {
            "ticks" => ticks.push(number),
            "stack" => stack = Some(number),
            _ => bail!(wrong()),
        }
    }
    Ok((ticks, stack.context("the firmware did not report its stack")?))
}

fn last_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines().last().unwrap_or("nothing").to_owned()
}

/// Fails with the first line that differs, from either side.
fn require_equal(board: &[u8], host: &[u8]) -> Result<()> {
    if board == host {
        return Ok(());
    }
    let split = |bytes: &[u8]| -> Vec<String> {
        String::from_utf8_lossy(bytes).split('\n').map(str::to_owned).collect()
    };
    let (board_lines, host_lines) = (split(board), split(host));
    let first = (0..).find(|&line| board_lines.get(line) != host_lines.get(line)).unwrap_or(0);
    let side = |lines: &[String]| lines.get(first).cloned().unwrap_or("(ended)".to_owned());
    bail!(
        "the answers differ at line {}, byte {} of {} (board) and {} (host)\n  board: {}\n  host:  {}",
        first + 1,
        board.iter().zip(host).take_while(|(b, h)| b == h).count(),
        board.len(),
        host.len(),
        side(&board_lines),
        side(&host_lines)
    )
}

impl Report {
    /// The figures, one a line.
    pub fn lines(&self) -> Vec<String> {
        let all = &self.instructions;
        let mean = all.iter().sum::<u64>() / all.len().max(1) as u64;
        let max = all.iter().max().copied().unwrap_or(0);
        vec![
            format!(
                "board and host   equal on {0} of {0} positions, {1} bytes",
                self.positions, self.bytes
            ),
            format!(
                "firmware         flash {}, static RAM {}, deepest stack {} bytes",
                self.sizes.flash, self.sizes.ram, self.stack
            ),
            format!(
                "instructions     {:.1} million a position, at most {:.1} million",
                millions(mean),
                millions(max)
            ),
        ]
    }
}

fn millions(instructions: u64) -> f64 {
    instructions as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_differing_line_is_shown() {
        require_equal(b"a\nb\n", b"a\nb\n").expect("equal");
        let error = require_equal(b"a\nb\n", b"a\nc\n").expect_err("differ").to_string();
        assert!(error.contains("line 2, byte 2"), "{error}");
        let error = require_equal(b"a\n", b"a\nc\n").expect_err("differ").to_string();
        assert!(error.contains("line 2, byte 2") && error.contains("host:  c"), "{error}");
    }

    #[test]
    fn diagnostics_are_ticks_and_a_stack() {
        let (ticks, stack) =
            parse_diagnostics("ticks 7\r\nticks 9\r\nstack 4096\r\n").expect("good");
        assert_eq!((ticks, stack), (vec![7, 9], 4096));
        assert!(parse_diagnostics("ticks 7\n").is_err());
        assert!(parse_diagnostics("ticks x\nstack 1\n").is_err());
    }
}
