//! The firmware on an emulated board: what it answers, and what each answer costs.
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::boards::{Board, M4, RISCV};
use crate::shell;

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

/// What an emulated board said.
pub struct Conversation {
    /// On its first UART.
    pub answers: String,
    /// On its second, if it has one.
    pub diagnostics: String,
}

/// How fast the emulated board is.
#[derive(Clone, Copy, PartialEq)]
enum Pace {
    /// One instruction a nanosecond, so that ticks count instructions and runs repeat.
    Counted,
    /// As fast as it goes, several times as fast.
    Free,
}

/// The emulator of `board` running `image`: the first UART on its own input and output, the second
/// into a file.
fn command(board: &Board, image: &Path, pace: Pace, diagnostics: &Path) -> Result<Command> {
    let program = board.find_emulator();
    let program = program.with_context(|| format!("{} is not installed", board.emulator))?;
    let mut command = Command::new(program);
    command.args(["-machine", board.machine, "-display", "none", "-monitor", "none"]);
    if pace == Pace::Counted {
        command.args(["-icount", "shift=0"]);
    }
    if board.emulator == RISCV {
        // The image itself is what the board starts with.
        command.args(["-bios", "none"]);
    }
    command.args(["-serial", "stdio", "-serial"]);
    command.arg(format!("file:{}", diagnostics.display()));
    command.args(["-semihosting-config", "enable=on,target=native", "-kernel"]).arg(image);
    Ok(command)
}

/// Sends `input` to `image` on `board`, and returns what it says until it ends. Plain files on
/// every end: nothing to deadlock on, and something to look at afterwards.
fn converse(board: &Board, image: &Path, pace: Pace, input: &[u8]) -> Result<Conversation> {
    let folder = shell::target_dir()?.join("board").join(board.machine);
    fs::create_dir_all(&folder)?;
    let [sent, answers, diagnostics] =
        ["input.txt", "answers.txt", "diagnostics.txt"].map(|name| folder.join(name));
    fs::write(&sent, input)?;
    let mut command = command(board, image, pace, &diagnostics)?;
    println!("$ {} < {} > {}", shell::text(&command), sent.display(), answers.display());
    command.stdin(File::open(&sent)?).stdout(File::create(&answers)?).stderr(Stdio::inherit());
    let status = shell::run_within(&mut command, LIMIT)?;
    let [answers, diagnostics] = [answers, diagnostics].map(fs::read);
    let [answers, diagnostics] =
        [answers?, diagnostics?].map(|text| String::from_utf8_lossy(&text).into_owned());
    if !status.success() {
        let last = answers.lines().last().unwrap_or("nothing");
        bail!("the firmware of {} ended with {status}, saying last: {last}", board.machine);
    }
    Ok(Conversation { answers, diagnostics })
}

/// Starts `image` on `board` and sends it nothing.
pub fn listen(board: &Board, image: &Path) -> Result<Conversation> {
    converse(board, image, Pace::Counted, &[])
}

/// Starts `image` on `board` and sends it the lines of `positions`; nothing is counted.
pub fn ask(board: &Board, image: &Path, positions: &[u8]) -> Result<Conversation> {
    converse(board, image, Pace::Free, &ended(positions))
}

/// Starts `image` on the Cortex-M4 and sends it the lines of the file `positions`.
pub fn run(image: &Path, positions: &Path) -> Result<Run> {
    let lines = fs::read(positions).with_context(|| positions.display().to_string())?;
    let Conversation { answers, diagnostics } =
        converse(&M4, image, Pace::Counted, &ended(&lines))?;
    let costs = Costs::parse(&diagnostics)?;
    let count = fs::read_to_string(positions)?.lines().count();
    ensure!(costs.answers == count, "{} of {count} positions timed", costs.answers);
    Ok(Run { answers: answers.into_bytes(), costs })
}

/// What is sent, and the end of the transmission.
fn ended(lines: &[u8]) -> Vec<u8> {
    [lines, &[END_OF_TRANSMISSION]].concat()
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
                stage => costs.add(stage, M4.instructions(number)),
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
