//! The firmware in QEMU, its wood at this end of a serial line.
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, bail};
use kibitzer_core::lamps::Frame;
use kibitzer_core::shakmaty::Bitboard;

/// What the board answered to one look at its contacts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// The lamps and the signal, if they changed.
    pub lamps: Option<(Frame, bool)>,
    /// What it says, if that changed.
    pub message: Option<String>,
    /// The position of its game as a FEN, if that changed.
    pub position: Option<String>,
    /// How many moves the game has that was just saved, if it was.
    pub saved: Option<usize>,
    /// What the parts of the work took, in instructions.
    pub costs: Vec<(String, u64)>,
}

/// The emulated board.
#[derive(Debug)]
pub struct Emulated {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The pseudo-terminals of the lines that have one.
    pub terminals: Vec<PathBuf>,
}

impl Emulated {
    /// What ends the emulator at once, as if the power went.
    pub fn power(&self) -> impl FnOnce() + Send + 'static {
        let id = self.child.id();
        move || {
            // It may have ended by itself.
            let _ =
                Command::new("kill").args(["-9", &id.to_string()]).stderr(Stdio::null()).status();
        }
    }

    /// Starts `image`; `lines` are QEMU's devices at the other ends of the board's second and third
    /// UART, such as `pty`, `unix:PATH` or `null`.
    ///
    /// # Errors
    /// The emulator does not start.
    pub fn start(emulator: &Path, image: &Path, lines: [&str; 2]) -> Result<Self> {
        let mut child = Command::new(emulator)
            .args(["-machine", "mps2-an386", "-icount", "shift=0"])
            .args(["-display", "none", "-monitor", "none", "-serial", "stdio"])
            .args(["-serial", lines[0], "-serial", lines[1]])
            .args(["-semihosting-config", "enable=on,target=native", "-kernel"])
            .arg(image)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| emulator.display().to_string())?;
        let input = child.stdin.take().context("a pipe")?;
        let output = BufReader::new(child.stdout.take().context("a pipe")?);
        let mut board = Self { child, input, output, terminals: Vec::new() };
        for _ in lines.iter().filter(|&&line| line == "pty") {
            // `char device redirected to /dev/pts/0 (label serial1)`
            let line = board.line()?;
            let path = line.split(' ').find(|word| word.starts_with("/dev/"));
            board.terminals.push(path.with_context(|| line.clone())?.into());
        }
        Ok(board)
    }

    /// Tells what the contacts read at `now`; what the board answers.
    ///
    /// # Errors
    /// The board is gone, or says what it should not.
    pub fn look(&mut self, now: u32, read: Bitboard) -> Result<Answer> {
        writeln!(self.input, "f {now} {:x}", read.0)?;
        self.input.flush()?;
        let mut answer = Answer::default();
        loop {
            let line = self.line()?;
            let (kind, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match kind {
                "." => return Ok(answer),
                "l" => answer.lamps = Some(lamps(rest).with_context(|| line.clone())?),
                "k" => answer.saved = Some(rest.parse()?),
                "m" => answer.message = Some(rest.to_owned()),
                "p" => answer.position = Some(rest.to_owned()),
                "t" => {
                    let (part, count) = rest.split_once(' ').with_context(|| line.clone())?;
                    answer.costs.push((part.to_owned(), count.parse()?));
                }
                _ => bail!("the board said: {line}"),
            }
        }
    }

    /// Presses a button, which counts with the next look.
    ///
    /// # Errors
    /// The board is gone.
    pub fn press(&mut self, button: &str) -> Result<()> {
        Ok(writeln!(self.input, "b {button}")?)
    }

    /// Chooses the protocol of the line to the app: `cpp`, `pegasus`, `certabo`.
    ///
    /// # Errors
    /// The board is gone.
    pub fn speak(&mut self, protocol: &str) -> Result<()> {
        Ok(writeln!(self.input, "a {protocol}")?)
    }

    /// Lets the program hang, until the watchdog starts it anew; it then waits for the next look.
    ///
    /// # Errors
    /// The board is gone.
    pub fn hang(&mut self) -> Result<()> {
        // A byte that comes meanwhile is lost when the chip is reset: that of an empty line.
        Ok(writeln!(self.input, "h\n")?)
    }

    /// Chooses a position to be set up.
    ///
    /// # Errors
    /// The board is gone.
    pub fn set_up(&mut self, fen: &str) -> Result<()> {
        Ok(writeln!(self.input, "s {fen}")?)
    }

    /// Ends the program; the bytes of the deepest stack.
    ///
    /// # Errors
    /// The board is gone, or did not end well.
    pub fn end(mut self) -> Result<u64> {
        writeln!(self.input, "q")?;
        self.input.flush()?;
        let line = self.line()?;
        let stack = line.strip_prefix("s ").with_context(|| line.clone())?.parse()?;
        let status = self.child.wait()?;
        if !status.success() {
            bail!("the emulator ended with {status}");
        }
        Ok(stack)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            bail!("the board is silent: {:?}", self.child.try_wait()?);
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `LAMPS SIGNAL`
fn lamps(text: &str) -> Option<(Frame, bool)> {
    let (lamps, signal) = text.split_once(' ')?;
    Some((Frame::parse(lamps)?, signal == "1"))
}
