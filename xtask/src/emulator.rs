//! The firmware on an emulated board: what it answers, and what each answer costs.
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::shell;

/// SysTick runs at 25 MHz and QEMU's `-icount shift=0` at one instruction a nanosecond.
pub const INSTRUCTIONS_A_TICK: u64 = 40;

/// The emulator executes some hundred million instructions a second, the positions take 20
/// thousand million with a network.
const LIMIT: Duration = Duration::from_secs(900);

/// Ends the conversation, as Ctrl-D does on a terminal.
const END_OF_TRANSMISSION: u8 = 4;

/// What the emulated board sent.
pub struct Run {
    /// UART0: the answers.
    pub answers: Vec<u8>,
    /// UART1: what the answers cost.
    pub costs: Costs,
}

/// What the answers cost.
#[derive(Debug, Default, PartialEq)]
pub struct Costs {
    /// Instructions by stage, in the order of the stages; one number a position.
    pub stages: Vec<(String, Vec<u64>)>,
    /// Answers given.
    pub answers: usize,
    /// Bytes of the deepest stack.
    pub stack: u64,
}

/// QEMU's board with a Cortex-M4.
pub const M4_BOARD: &str = "mps2-an386";

/// QEMU as `board` running `image`: UART0 on its own input and output, UART1 into a file, one
/// instruction a nanosecond.
fn board(emulator: &Path, board: &str, image: &Path, diagnostics: &Path) -> Command {
    let mut command = Command::new(emulator);
    command.args(["-machine", board, "-icount", "shift=0", "-display", "none"]);
    command.args(["-monitor", "none", "-serial", "stdio", "-serial"]);
    command.arg(format!("file:{}", diagnostics.display()));
    command.args(["-semihosting-config", "enable=on,target=native", "-kernel"]).arg(image);
    command
}

/// Runs the emulator between two files and returns what is in the second.
fn answers_of(mut command: Command, input: &Path, answers: &Path) -> Result<Vec<u8>> {
    println!("$ {} < {} > {}", shell::text(&command), input.display(), answers.display());
    command.stdin(File::open(input)?).stdout(File::create(answers)?).stderr(Stdio::inherit());
    let status = shell::run_within(&mut command, LIMIT)?;
    let answers = fs::read(answers)?;
    if !status.success() {
        bail!("the firmware ended with {status}, saying last: {}", last_line(&answers));
    }
    Ok(answers)
}

/// Starts `image` on `machine`, sends it nothing, and returns what it says on UART0 and UART1.
pub fn listen(emulator: &Path, machine: &str, image: &Path) -> Result<[Vec<u8>; 2]> {
    let folder = shell::target_dir()?.join("board");
    fs::create_dir_all(&folder)?;
    let [input, answers, diagnostics] =
        ["nothing", "answers.txt", "diagnostics.txt"].map(|name| folder.join(machine).join(name));
    fs::create_dir_all(folder.join(machine))?;
    fs::write(&input, [])?;
    let answers = answers_of(board(emulator, machine, image, &diagnostics), &input, &answers)?;
    Ok([answers, fs::read(&diagnostics)?])
}

/// Starts `image` and sends it the lines of `positions`.
pub fn run(emulator: &Path, image: &Path, positions: &Path) -> Result<Run> {
    // Plain files on both ends: nothing to deadlock on, and something to look at afterwards.
    let folder = shell::target_dir()?.join("board");
    fs::create_dir_all(&folder)?;
    let [input, answers, diagnostics] =
        ["input.fen", "answers.txt", "diagnostics.txt"].map(|name| folder.join(name));
    let mut lines = fs::read(positions).with_context(|| positions.display().to_string())?;
    lines.push(END_OF_TRANSMISSION);
    fs::write(&input, lines)?;

    let command = board(emulator, M4_BOARD, image, &diagnostics);
    let answers = answers_of(command, &input, &answers)?;
    let costs = Costs::parse(&fs::read_to_string(&diagnostics)?)?;
    let count = fs::read_to_string(positions)?.lines().count();
    ensure!(costs.answers == count, "{} of {count} positions timed", costs.answers);
    Ok(Run { answers, costs })
}

impl Costs {
    /// Reads lines `STAGE TICKS`, one a stage and an answer; `ticks N`, one an answer; and one
    /// `stack BYTES` at the end.
    fn parse(text: &str) -> Result<Self> {
        let mut costs = Self::default();
        let mut stack = None;
        for line in text.lines() {
            let wrong = || format!("a diagnostic line that is no name and number: {line}");
            let (what, number) = line.split_once(' ').with_context(wrong)?;
            let number: u64 = number.trim().parse().with_context(wrong)?;
            match what {
                "ticks" => costs.answers += 1,
                "stack" => stack = Some(number),
                stage => costs.add(stage, number * INSTRUCTIONS_A_TICK),
            }
        }
        costs.stack = stack.context("the firmware did not report its stack")?;
        Ok(costs)
    }

    fn add(&mut self, stage: &str, instructions: u64) {
        match self.stages.iter_mut().find(|(name, _)| name == stage) {
            Some((_, all)) => all.push(instructions),
            None => self.stages.push((stage.to_owned(), vec![instructions])),
        }
    }

    /// Instructions of all stages together, by position.
    pub fn totals(&self) -> Vec<u64> {
        let at = |position| self.stages.iter().filter_map(move |(_, all)| all.get(position));
        (0..self.answers).map(|position| at(position).sum()).collect()
    }
}

fn last_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines().last().unwrap_or("nothing").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_are_stages_and_a_stack() {
        let text = "scan 7\r\nscore 1\r\nticks 9\r\nscan 5\r\nscore 2\r\nticks 8\r\nstack 4096\r\n";
        let costs = Costs::parse(text).expect("good");
        let stages = vec![("scan".to_owned(), vec![280, 200]), ("score".to_owned(), vec![40, 80])];
        assert_eq!(costs, Costs { stages, answers: 2, stack: 4096 });
        assert_eq!(costs.totals(), [320, 280]);
        assert!(Costs::parse("ticks 7\n").is_err());
        assert!(Costs::parse("ticks x\nstack 1\n").is_err());
    }
}
