//! A UCI engine as a child process.
use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use anyhow::Result;
use kibitzer_core::shakmaty::{CastlingMode, Chess, EnPassantMode, Move, fen::Fen, uci::UciMove};

use crate::error::UserError;

/// A running engine.
#[derive(Debug)]
pub struct Engine {
    command: String,
    /// The name it gave itself.
    pub name: String,
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Engine {
    /// Starts `command`, a program and its arguments separated by spaces, and waits until it is
    /// ready.
    ///
    /// # Errors
    /// [`UserError`] if it cannot be started or does not speak UCI.
    pub fn start(command: &str) -> Result<Engine> {
        let mut words = command.split_whitespace();
        let program = words.next().unwrap_or_default();
        let mut process = Command::new(program)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| {
                UserError::new(error, format!("engine {command}"), "give a UCI engine's command")
            })?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(silent(command).into());
        };
        let mut engine = Engine {
            command: command.to_string(),
            name: command.to_string(),
            process,
            input,
            output: BufReader::new(output),
        };
        engine.send("uci")?;
        while let Some(line) = engine.line()?
            && line != "uciok"
        {
            if let Some(name) = line.strip_prefix("id name ") {
                engine.name = name.to_string();
            }
        }
        engine.ready()?;
        Ok(engine)
    }

    /// The engine's move in `position` at `depth` plies, its memory of other positions cleared.
    ///
    /// # Errors
    /// [`UserError`] if the engine dies or answers with an illegal move.
    pub fn best_move(&mut self, position: &Chess, depth: u32) -> Result<Move> {
        self.send("ucinewgame")?;
        self.ready()?;
        let fen = Fen::from_position(position, EnPassantMode::Legal);
        self.send(&format!("position fen {fen}"))?;
        self.send(&format!("go depth {depth}"))?;
        while let Some(line) = self.line()? {
            if let Some(rest) = line.strip_prefix("bestmove ") {
                let uci = rest.split_whitespace().next().unwrap_or_default();
                let mv: Option<UciMove> = uci.parse().ok();
                return mv.and_then(|m| m.to_move(position).ok()).ok_or_else(|| {
                    let what = format!("illegal move {uci} in {fen}");
                    UserError::new(what, self.place(), "use an engine that knows the rules").into()
                });
            }
        }
        Err(silent(&self.command).into())
    }

    /// Waits until everything sent has been dealt with.
    fn ready(&mut self) -> Result<()> {
        self.send("isready")?;
        while let Some(line) = self.line()? {
            if line == "readyok" {
                return Ok(());
            }
        }
        Err(silent(&self.command).into())
    }

    fn send(&mut self, line: &str) -> Result<()> {
        writeln!(self.input, "{line}").map_err(|_| silent(&self.command).into())
    }

    /// The next line, `None` when the engine has closed its output.
    fn line(&mut self) -> Result<Option<String>> {
        let mut line = String::new();
        let length = self.output.read_line(&mut line).map_err(|_| silent(&self.command))?;
        Ok((length > 0).then(|| line.trim().to_string()))
    }

    fn place(&self) -> String {
        format!("engine {}", self.command)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // A dead engine needs no farewell; a live one is not left behind.
        let _ = self.send("quit");
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn silent(command: &str) -> UserError {
    let mend = "give the command of a UCI engine that runs here";
    UserError::new("the engine stopped answering", format!("engine {command}"), mend)
}

/// The UCI text of a move in standard chess.
pub fn uci(mv: Move) -> String {
    mv.to_uci(CastlingMode::Standard).to_string()
}
